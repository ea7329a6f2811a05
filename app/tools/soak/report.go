package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

type report struct {
	length  time.Duration
	counts  map[string]int      // of what was done, of each fault, and of what the audit saw
	calls   [2]time.Duration    // of authenticated calls the slowest hundredth: without strangers, beside them
	found   map[string][]string // discrepancies by their kind
	keptDir string              // directory that is left to look into
}

// discrepancy records a discrepancy. The format is its kind.
func (r *report) discrepancy(format string, args ...any) {
	r.found[format] = append(r.found[format], fmt.Sprintf(format, args...))
}

func (r *report) failed() bool { return len(r.found) > 0 }

// maxExamples limits the lines printed of each kind: one bug tends to cause many
// discrepancies.
const maxExamples = 5

func (r *report) String() string {
	var b strings.Builder
	line := func(what string, figure any) { fmt.Fprintf(&b, "%-60s %v\n", what, figure) }
	line("length", r.length)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		line(what, r.counts[what])
	}
	line("p99 of calls, alone and beside strangers", r.calls)
	line("kinds of discrepancies", len(r.found))

	if r.keptDir != "" {
		fmt.Fprintln(&b, keptIn(r.keptDir))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.found)) {
		all := r.found[kind]
		for _, example := range all[:min(maxExamples, len(all))] {
			fmt.Fprintln(&b, "  "+example)
		}
		fmt.Fprintf(&b, "    %d in all\n", len(all))
	}
	return b.String()
}
