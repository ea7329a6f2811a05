package main

import (
	"fmt"
	"io"
	"strings"
)

type goal struct {
	text string
	met  bool
}

func atLeast(value, limit float64) *goal {
	return &goal{fmt.Sprintf("≥ %g", limit), value >= limit}
}

// atMost is a goal that a figure, in a unit, must not pass.
func atMost(value, limit float64, unit string) *goal {
	return &goal{fmt.Sprintf("≤ %g%s", limit, unit), value <= limit}
}

// table prints each row as soon as it is measured.
type table struct {
	out       io.Writer
	callbacks string // on or off: whether the simulator reports sent and delivered now
	met       int
	missed    []string
}

func (t *table) print(id, what, callbacks, figure, goal, verdict, detail string) {
	line := fmt.Sprintf("%-3s  %-88s  %-9s  %10s  %-9s  %-7s  %s", id, what, callbacks, figure, goal, verdict, detail)
	fmt.Fprintln(t.out, strings.TrimRight(line, " "))
}

// add prints a row. id is that of the goal, such as P3, if it has one; goal is nil where the figure
// only informs; detail is a ratio, percentiles, what it cost.
func (t *table) add(id, what, figure string, goal *goal, detail string) {
	aim, verdict := "", ""
	if goal != nil {
		aim, verdict = goal.text, "met"
		if goal.met {
			t.met++
		} else {
			verdict = "MISSED"
			t.missed = append(t.missed, id)
		}
	}
	t.print(id, what, t.callbacks, figure, aim, verdict, detail)
}

func (t *table) end() {
	fmt.Fprintf(t.out, "\nGoals met: %d of %d.", t.met, t.met+len(t.missed))
	if len(t.missed) > 0 {
		fmt.Fprintf(t.out, " Missed: %s.", strings.Join(t.missed, ", "))
	}
	fmt.Fprintln(t.out)
}

// addLimited adds a row with a figure, in a unit, that should not pass a limit.
func (t *table) addLimited(id, what string, value, limit float64, unit, detail string) {
	t.add(id, what, fmt.Sprintf("%.1f%s", value, unit), atMost(value, limit, unit), detail)
}

func (t *table) addRate(id, what string, s *series) {
	t.add(id, what, perSecond(s.rate), nil, s.costText())
}

// addRatio adds the row of a series whose rate should be at least a share of that of another one.
func (t *table) addRatio(id, what string, s, base *series, least float64) {
	ratio := s.rate / base.rate
	t.add(id, what, perSecond(s.rate), atLeast(ratio, least),
		fmt.Sprintf("%.2f of %s (%s, %s); %s", ratio, base.name, perSecond(base.rate), base.costText(), s.costText()))
}

// addSlowdown adds a row with a time, in milliseconds, that should be at most so many times
// as long as another one.
func (t *table) addSlowdown(id, what string, value, alone, limit float64) {
	t.add(id, what, fmt.Sprintf("%.2f ms", value), atMost(value/alone, limit, "×"),
		fmt.Sprintf("%.2f× that without (%.2f ms)", value/alone, alone))
}
