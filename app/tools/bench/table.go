package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

type row struct {
	id        string // of the goal, such as P3, if it has one
	what      string
	callbacks callbacks
	figure    string
	detail    string // a ratio, percentiles, what it cost
	goal      *goal  // nil where the figure only informs
}

// callbacks says whether the simulator reported sent and delivered during a measurement.
// It is "" if there was no provider.
type callbacks string

const (
	callbacksOff callbacks = "off"
	callbacksOn  callbacks = "on"
)

type goal struct {
	text string
	met  bool
}

// atLeast is a goal that a ratio must reach.
func atLeast(value, limit float64) *goal {
	return &goal{fmt.Sprintf("≥ %g", limit), value >= limit}
}

// atMost is a goal that a figure, in a unit, must not pass.
func atMost(value, limit float64, unit string) *goal {
	return &goal{fmt.Sprintf("≤ %g%s", limit, unit), value <= limit}
}

type table struct {
	rows      []row
	callbacks callbacks // of the rows that are added now
}

func (t *table) add(r row) {
	r.callbacks = cmp.Or(r.callbacks, t.callbacks)
	t.rows = append(t.rows, r)
}

// addLimited adds a row with a figure, in a unit, that should not pass a limit.
func (t *table) addLimited(value, limit float64, unit string, r row) {
	r.figure, r.goal = fmt.Sprintf("%.1f%s", value, unit), atMost(value, limit, unit)
	t.add(r)
}

// addRate adds the row of a series. Its detail ends with what one cost.
func (t *table) addRate(s *series, r row) {
	if r.detail != "" {
		r.detail += "; "
	}
	r.figure, r.detail = perSecond(s.rate), r.detail+s.cost.String()
	t.add(r)
}

// addRatio adds the row of a series whose rate should be at least a share of that of
// another one; 0 is no goal.
func (t *table) addRatio(s, base *series, least float64, r row) {
	ratio := s.rate / base.rate
	r.detail = fmt.Sprintf("%.2f of %s (%s, %s)", ratio, base.name, perSecond(base.rate), &base.cost)
	if least > 0 {
		r.goal = atLeast(ratio, least)
	}
	t.addRate(s, r)
}

// addSlowdown adds a row with a time, in milliseconds, that should be at most so many times
// as long as another one.
func (t *table) addSlowdown(value, alone, limit float64, r row) {
	r.figure, r.goal = fmt.Sprintf("%.2f ms", value), atMost(value/alone, limit, "×")
	r.detail = fmt.Sprintf("%.2f× that without (%.2f ms)%s", value/alone, alone, r.detail)
	t.add(r)
}

// String returns the table as it is printed, and below it how many goals were met.
func (t *table) String() string {
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\tWHAT\tCALLBACKS\tFIGURE\tGOAL\tVERDICT\tDETAIL")

	met, missed := 0, []string(nil)
	for _, r := range t.rows {
		aim, verdict := "", ""
		if r.goal != nil {
			aim, verdict = r.goal.text, "met"
			if r.goal.met {
				met++
			} else {
				verdict = "MISSED"
				missed = append(missed, r.id)
			}
		}

		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.id, r.what, r.callbacks, r.figure, aim, verdict, r.detail)
	}
	tab.Flush()

	fmt.Fprintf(&b, "\nGoals met: %d of %d.", met, met+len(missed))
	if len(missed) > 0 {
		fmt.Fprintf(&b, " Missed: %s.", strings.Join(missed, ", "))
	}
	b.WriteByte('\n')
	return b.String()
}
