package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// row is one line of the result.
type row struct {
	id        string // of the goal, such as P3, if it has one
	what      string
	callbacks callbacks
	figure    string
	detail    string // a ratio, percentiles, what it cost
	goal      *goal  // nil where the figure only informs
}

// callbacks says whether the simulator reported sent and delivered during a measurement.
// It is "" if no provider took part.
type callbacks string

const (
	callbacksOff callbacks = "off"
	callbacksOn  callbacks = "on"
)

// goal is what a figure should reach.
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

// table is the result.
type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

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
