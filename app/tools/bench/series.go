package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// series is one thing that is measured once a round, interleaved with others, and what all
// rounds gave.
type series struct {
	name      string // as what others are compared with
	prepare   func() // before a round, and not measured; nil for nothing
	measure   func() round
	after     func()    // ends a round, so that no work is left while something else is measured; nil for nothing
	cleanUp   func()    // after a round that was prepared; nil for nothing
	processes []process // whose processor time is measured

	rate  float64 // the median of the rounds
	waits []time.Duration
}

type round struct {
	count     int
	perSecond float64 // 0 is count in the time of the whole round
	waits     []time.Duration
}

// process is a process whose processor time is measured: a busy machine distorts that far less
// than the time on the clock.
type process struct {
	name   string
	used   func() time.Duration
	micros []float64 // for one request, delivery or job, by round
}

// loadGenerator is this process, which runs on the same cores as what it measures.
const loadGenerator = "load generator"

func ownProcess(name string) process {
	return process{name: name, used: func() time.Duration {
		var r syscall.Rusage
		rig.Check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}}
}

func (b *bench) newSeries(l load, after func(), processes ...process) *series {
	if l.length == 0 {
		l.length = b.length
	}
	return &series{measure: l.run, after: after, processes: processes}
}

// newSends measures sends of a number of connections to a server, until all of them were sent.
func (b *bench) newSends(s *server, connections int, processes ...process) *series {
	return b.newSeries(load{address: s.Address, connections: connections, request: s.message}, s.awaitSent, processes...)
}

func (b *bench) measureAll(all ...*series) {
	var measures []func() float64
	for _, s := range all {
		measures = append(measures, s.measureRound)
	}
	for i, median := range b.interleave(measures...) {
		all[i].rate = median
	}
}

// measureRound measures one round, and returns how many were done in a second.
func (s *series) measureRound() float64 {
	if s.prepare != nil {
		s.prepare()
	}
	if s.cleanUp != nil {
		defer s.cleanUp()
	}
	var before []time.Duration
	for _, p := range s.processes {
		before = append(before, p.used())
	}

	began := time.Now()
	r := s.measure()
	if s.after != nil {
		s.after()
	}
	whole := float64(r.count) / time.Since(began).Seconds()

	for i := range s.processes {
		p := &s.processes[i]
		p.micros = append(p.micros, float64((p.used()-before[i]).Microseconds())/float64(max(1, r.count)))
	}
	s.waits = append(s.waits, r.waits...)
	if r.perSecond == 0 {
		return whole
	}
	return r.perSecond
}

// cost is the processor time of one in all processes but the load generator, in microseconds.
func (s *series) cost() (micros float64) {
	for _, p := range s.processes {
		if p.name != loadGenerator {
			micros += median(p.micros)
		}
	}
	return micros
}

func (s *series) costText() string {
	var all []string
	for _, p := range s.processes {
		all = append(all, fmt.Sprintf("%s %.0f", p.name, median(p.micros)))
	}
	return "µs of processor each: " + strings.Join(all, ", ")
}

// interleave runs each measurement once a round, so that a slow moment of the machine
// affects all of them, and returns the median of each.
func (b *bench) interleave(measure ...func() float64) (medians []float64) {
	samples := make([][]float64, len(measure))
	for range b.rounds {
		for i, m := range measure {
			samples[i] = append(samples[i], m())
		}
	}

	for _, s := range samples {
		medians = append(medians, median(s))
	}
	return medians
}

func median(s []float64) float64 { return rig.Percentile(s, 50) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func perSecond(v float64) string { return fmt.Sprintf("%.0f/s", v) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func latencyText(waits []time.Duration) string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", ms(rig.Percentile(waits, 50)), ms(rig.Percentile(waits, 99)))
}

// pollTimeout is how long anything may take that is waited for. It is far more than any
// measurement needs: it ends one in which a job is stuck or has failed.
const pollTimeout = 10 * time.Minute

func poll(pause time.Duration, done func() bool) {
	for began := time.Now(); !done(); time.Sleep(pause) {
		rig.Require(time.Since(began) < pollTimeout, "what was waited for did not happen within %s", pollTimeout)
	}
}

func view[T any](db *storage.DB, read func(*storage.Rx) (T, error)) T {
	return rig.Must(storage.Query(context.Background(), db, read))
}

func pollDatabase(db *storage.DB, pause time.Duration, done func(*storage.Rx) (bool, error)) {
	poll(pause, func() bool { return view(db, done) })
}
