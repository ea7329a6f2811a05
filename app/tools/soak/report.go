package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// report is what a trial found.
type report struct {
	length  time.Duration
	counts  map[string]int // of what was done, of each fault, and of what the audit saw
	memory  [2]int64
	log     int64
	calls   [2]time.Duration // of authenticated calls the slowest hundredth: without strangers, beside them
	found   []*discrepancies
	keptDir string // directory that is left to look into
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

// health records the memory of the server and the size of its write-ahead log over time.
type health struct {
	mu     sync.Mutex
	memory []int64
	log    int64 // largest size of the write-ahead log
}

// watch takes a sample of a server every second until ctx ends. The process may be down at
// any of them.
func (h *health) watch(ctx context.Context, s *rig.Server) {
	for sleep(ctx, time.Second) {
		h.mu.Lock()
		_ = rig.Catch(func() { h.memory = append(h.memory, s.Process().Memory()) })
		if file, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
			h.log = max(h.log, file.Size())
		}
		h.mu.Unlock()
	}
}

// summarize returns the median memory of the second and of the last third of the trial,
// and the largest size that the write-ahead log has had. The first third is for warming up.
func (h *health) summarize() (memory [2]int64, log int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	third := len(h.memory) / 3
	return [2]int64{rig.Percentile(h.memory[third:2*third], 50), rig.Percentile(h.memory[2*third:], 50)}, h.log
}
