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
	name    string                // as what others are compared with
	prepare func(context.Context) // before a round, and not measured; nil for nothing
	measure func(context.Context) round
	after   func(context.Context) // ends a round, so that no work is left while something else is measured; nil for nothing
	cleanUp func()                // after a round that was prepared; nil for nothing
	cost    meter

	rate  float64   // the median of the rounds
	whole []float64 // of each round: how many a second until everything was done
	waits []time.Duration
}

// round is what was done in one round.
type round struct {
	count     int
	perSecond float64 // 0 is count in the time of the whole round
	waits     []time.Duration
}

// newSeries measures a load.
func (b *bench) newSeries(l load, after func(context.Context), processes ...process) *series {
	if l.length == 0 {
		l.length = b.length
	}
	return &series{measure: l.run, after: after, cost: meter{processes: processes}}
}

// newSends measures sends of a number of connections to a server, until all of them were sent.
func (b *bench) newSends(s *server, connections int, processes ...process) *series {
	return b.newSeries(load{address: s.Address, connections: connections, request: s.message}, s.awaitSent, processes...)
}

// measureAll measures all series, interleaved.
func (b *bench) measureAll(ctx context.Context, all ...*series) {
	var measures []func() float64
	for _, s := range all {
		measures = append(measures, func() float64 { return s.measureRound(ctx) })
	}
	for i, median := range b.interleave(ctx, measures...) {
		all[i].rate = median
	}
}

// measureRound measures one round, and returns how many were done in a second.
func (s *series) measureRound(ctx context.Context) float64 {
	if s.prepare != nil {
		s.prepare(ctx)
	}
	if s.cleanUp != nil {
		defer s.cleanUp()
	}
	s.cost.begin()

	began := time.Now()
	r := s.measure(ctx)
	if s.after != nil {
		s.after(ctx)
	}
	whole := float64(r.count) / time.Since(began).Seconds()
	s.cost.end(r.count)

	s.whole, s.waits = append(s.whole, whole), append(s.waits, r.waits...)
	if r.perSecond == 0 {
		return whole
	}
	return r.perSecond
}

// interleave runs each measurement once a round, so that a slow moment of the machine
// affects all of them, and returns the median of each.
func (b *bench) interleave(ctx context.Context, measure ...func() float64) (medians []float64) {
	samples := make([][]float64, len(measure))
	for range b.rounds {
		for i, m := range measure {
			rig.Check(ctx.Err())
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

// latencyText returns the median and the 99th percentile as text.
func latencyText(waits []time.Duration) string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", ms(rig.Percentile(waits, 50)), ms(rig.Percentile(waits, 99)))
}

func connectionsText(connections int) string {
	if connections == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", connections)
}

// process is a process whose processor time is counted.
type process struct {
	name string
	used func() time.Duration
}

// loadGenerator is this process, which runs on the same cores as what it measures.
var loadGenerator = process{"load generator", func() time.Duration {
	var r syscall.Rusage
	rig.Check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}}

// meter measures how much processor time one request, delivery or job costs each of the
// processes. A busy machine distorts that far less than the time on the clock.
type meter struct {
	processes []process
	before    []time.Duration
	micros    [][]float64 // for one of them, by process and round
}

func (m *meter) begin() {
	m.before = nil
	for _, p := range m.processes {
		m.before = append(m.before, p.used())
	}
}

// end divides the processor time since begin by how many were done in the round.
func (m *meter) end(count int) {
	if m.micros == nil {
		m.micros = make([][]float64, len(m.processes))
	}
	for i, p := range m.processes {
		m.micros[i] = append(m.micros[i], float64((p.used()-m.before[i]).Microseconds())/float64(max(1, count)))
	}
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

// pollTimeout is how long anything may take that is waited for. It is far more than any
// measurement needs: it ends one in which a job is stuck or has failed.
const pollTimeout = 10 * time.Minute

// poll calls done again and again, with pauses, until it returns true.
func poll(ctx context.Context, pause time.Duration, done func() bool) {
	for began := time.Now(); !done(); {
		if time.Since(began) > pollTimeout {
			rig.Check(fmt.Errorf("what was waited for did not happen within %s", pollTimeout))
		}
		sleep(ctx, pause)
	}
}

// sleep waits for a time, or fails with the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
		rig.Check(ctx.Err())
	case <-time.After(d):
	}
}

func view[T any](ctx context.Context, db *storage.DB, read func(*storage.Rx) (T, error)) T {
	return rig.Must(storage.Query(ctx, db, read))
}

// pollDatabase is poll for what a database shows.
func pollDatabase(ctx context.Context, db *storage.DB, pause time.Duration, done func(*storage.Rx) (bool, error)) {
	poll(ctx, pause, func() bool { return view(ctx, db, done) })
}
