package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// worker is a process whose processor time is counted.
type worker struct {
	name string
	used func() (time.Duration, error)
}

// generator is this process, which makes the load on the same cores.
var generator = worker{"load generator", func() (time.Duration, error) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err
}}

// meter tells what a thing costs those who work on it, in processor time: a busy
// machine distorts that far less than it does the time on the clock.
type meter struct {
	workers []worker
	before  []time.Duration
	micros  [][]float64 // per thing, of each worker, round by round
}

func newMeter(workers ...worker) *meter {
	return &meter{workers: workers, micros: make([][]float64, len(workers))}
}

// begin notes where everybody stands before a round.
func (m *meter) begin() (err error) {
	m.before, err = m.read()
	return err
}

// end shares what was used since among the things that were done.
func (m *meter) end(things int) error {
	after, err := m.read()
	if err != nil {
		return err
	}
	for i := range m.workers {
		m.micros[i] = append(m.micros[i], float64((after[i]-m.before[i]).Microseconds())/float64(max(1, things)))
	}
	return nil
}

func (m *meter) read() ([]time.Duration, error) {
	all := make([]time.Duration, len(m.workers))
	for i, w := range m.workers {
		var err error
		if all[i], err = w.used(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sum is what the thing costs in all, in microseconds, without the load generator.
func (m *meter) sum() (micros float64) {
	for i, w := range m.workers {
		if w.name != generator.name {
			micros += median(m.micros[i])
		}
	}
	return micros
}

// String is what the thing costs each of them.
func (m *meter) String() string {
	var b strings.Builder
	b.WriteString("µs of processor each: ")
	for i, w := range m.workers {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %.0f", w.name, median(m.micros[i]))
	}
	return b.String()
}
