package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// report is what a trial found.
type report struct {
	length                time.Duration
	sent, received, reads int
	failures              int // acknowledged messages that failed in the end
	events, deliveries    int
	faults                map[string]int
	memory                [2]int64
	log                   int64
	discrepancies         int
	examples              []string
	keptDir               string // directory that is left to look into
}

// maxExamples limits what is printed; one bug tends to cause many discrepancies.
const maxExamples = 40

func (r *report) discrepancy(format string, args ...any) {
	r.discrepancies++
	if len(r.examples) < maxExamples {
		r.examples = append(r.examples, fmt.Sprintf(format, args...))
	}
}

func (r *report) failed() bool { return r.discrepancies > 0 }

// String returns the table that a trial prints.
func (r *report) String() string {
	var b bytes.Buffer
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(what string, figure any) { fmt.Fprintf(tab, "%s\t%v\n", what, figure) }

	line("length", r.length)
	line("messages acknowledged", fmt.Sprintf("%d (%.0f/s)", r.sent, float64(r.sent)/r.length.Seconds()))
	line("  of them failed in the end", r.failures)
	line("messages received", r.received)
	line("lists read", r.reads)
	line("events", r.events)
	line("delivery attempts seen", r.deliveries)

	for _, fault := range slices.Sorted(maps.Keys(r.faults)) {
		line("fault: "+fault, r.faults[fault])
	}

	line("memory, second and last third", fmt.Sprintf("%d MB, %d MB", r.memory[0]>>20, r.memory[1]>>20))
	line("longest write-ahead log", fmt.Sprintf("%d MB", r.log>>20))
	line("discrepancies", r.discrepancies)
	tab.Flush()

	if r.keptDir != "" {
		fmt.Fprintln(&b, "What the server logged is in "+r.keptDir+".")
	}
	for _, example := range r.examples {
		fmt.Fprintln(&b, "  "+example)
	}
	return b.String()
}
