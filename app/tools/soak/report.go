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
	length             time.Duration
	sent, received     int
	failures           int // acknowledged messages that failed in the end
	failuresThere      int // of them, those that the provider has all the same
	events, deliveries int
	repeated           int // deliveries that an endpoint took more than once
	passed             int // sends through the gateway
	firings            int // of rules that fire for every message
	broadcasts         int
	recipients         int            // of all broadcasts
	streams            int            // connections of readers
	browsers, steps    int            // what people did in them
	typed              int            // messages that people sent
	counts             map[string]int // of what was done, and of each fault
	memory             [2]int64
	log                int64
	calls              [2]time.Duration // of authenticated calls the slowest hundredth: without strangers, beside them
	found              []*discrepancies
	keptDir            string // directory that is left to look into
}

// discrepancies are those of one kind.
type discrepancies struct {
	format   string
	count    int
	examples []string
}

// maxExamples limits the lines printed of each kind: one bug tends to cause many
// discrepancies.
const maxExamples = 5

// discrepancy records a discrepancy. The format is its kind.
func (r *report) discrepancy(format string, args ...any) {
	at := slices.IndexFunc(r.found, func(d *discrepancies) bool { return d.format == format })
	if at < 0 {
		at = len(r.found)
		r.found = append(r.found, &discrepancies{format: format})
	}

	kind := r.found[at]
	kind.count++
	if len(kind.examples) < maxExamples {
		kind.examples = append(kind.examples, fmt.Sprintf(format, args...))
	}
}

// discrepancies counts all of them.
func (r *report) discrepancies() (n int) {
	for _, kind := range r.found {
		n += kind.count
	}
	return n
}

func (r *report) failed() bool { return len(r.found) > 0 }

// String returns the table that a trial prints.
func (r *report) String() string {
	var b bytes.Buffer
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(what string, figure any) { fmt.Fprintf(tab, "%s\t%v\n", what, figure) }

	line("length", r.length)
	line("messages acknowledged", fmt.Sprintf("%d (%.0f/s)", r.sent, float64(r.sent)/r.length.Seconds()))
	line("  of them failed in the end", fmt.Sprintf("%d (of which the provider has %d)", r.failures, r.failuresThere))
	line("sent through the gateway", r.passed)
	line("messages received", r.received)
	line("rules fired for every message", r.firings)
	line("broadcasts", fmt.Sprintf("%d (to %d people)", r.broadcasts, r.recipients))
	line("browsers", fmt.Sprintf("%d (%d steps, %d messages sent)", r.browsers, r.steps, r.typed))
	line("events", r.events)
	line("connections of stream readers", r.streams)
	line("delivery attempts seen", r.deliveries)
	line("deliveries taken more than once", r.repeated)

	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		line(what, r.counts[what])
	}

	line("memory, second and last third", fmt.Sprintf("%d MB, %d MB", r.memory[0]>>20, r.memory[1]>>20))
	line("longest write-ahead log", fmt.Sprintf("%d MB", r.log>>20))
	if r.calls[1] > 0 {
		line("p99 of calls, alone and beside strangers", fmt.Sprintf("%v, %v", r.calls[0], r.calls[1]))
	}
	line("discrepancies", r.discrepancies())
	tab.Flush()

	if r.keptDir != "" {
		fmt.Fprintln(&b, keptIn(r.keptDir))
	}
	for _, kind := range r.found {
		for _, example := range kind.examples {
			fmt.Fprintln(&b, "  "+example)
		}
		if more := kind.count - len(kind.examples); more > 0 {
			fmt.Fprintf(&b, "    and %d more\n", more)
		}
	}
	return b.String()
}
