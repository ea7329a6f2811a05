package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// process is a process whose processor time is counted.
type process struct {
	name string
	used func() (time.Duration, error)
}

// loadGenerator is this process, which runs on the same cores as what it measures.
var loadGenerator = process{"load generator", func() (time.Duration, error) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err
}}

// meter measures how much processor time one request, delivery or job costs each of the
// processes. A busy machine distorts that far less than the time on the clock.
type meter struct {
	processes []process
	before    []time.Duration
	micros    [][]float64 // for one of them, by process and round
}

// begin reads the processor times before a round.
func (m *meter) begin() (err error) {
	m.before, err = m.read()
	return err
}

// end divides the processor time since begin by how many were done in the round.
func (m *meter) end(count int) error {
	after, err := m.read()
	if err != nil {
		return err
	}

	if m.micros == nil {
		m.micros = make([][]float64, len(m.processes))
	}
	for i := range m.processes {
		m.micros[i] = append(m.micros[i], float64((after[i]-m.before[i]).Microseconds())/float64(max(1, count)))
	}
	return nil
}

func (m *meter) read() ([]time.Duration, error) {
	all := make([]time.Duration, len(m.processes))
	for i, w := range m.processes {
		var err error
		if all[i], err = w.used(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sum returns the cost in all processes but the load generator, in microseconds.
func (m *meter) sum() (micros float64) {
	for i, w := range m.processes {
		if w.name != loadGenerator.name {
			micros += median(m.micros[i])
		}
	}
	return micros
}

// String lists the cost in each process.
func (m *meter) String() string {
	var all []string
	for i, w := range m.processes {
		all = append(all, fmt.Sprintf("%s %.0f", w.name, median(m.micros[i])))
	}
	return "µs of processor each: " + strings.Join(all, ", ")
}
