package main

import (
	"context"
	"errors"
	"time"
)

// series is one thing that is measured once a round, interleaved with others, and what all
// rounds gave.
type series struct {
	name    string                      // as what others are compared with
	prepare func(context.Context) error // before a round, and not measured; nil for nothing
	measure func(context.Context) (round, error)
	after   func(context.Context) error // ends a round, so that no work is left while something else is measured; nil for nothing
	cleanUp func()                      // after a round that was prepared; nil for nothing
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
func (b *bench) newSeries(l load, after func(context.Context) error, processes ...process) *series {
	if l.length == 0 {
		l.length = b.length
	}
	return &series{measure: l.run, after: after, cost: meter{processes: processes}}
}

// measureAll measures all series, interleaved.
func (b *bench) measureAll(ctx context.Context, all ...*series) error {
	var measures []func() (float64, error)
	for _, s := range all {
		measures = append(measures, func() (float64, error) { return s.measureRound(ctx) })
	}

	medians, err := b.interleave(ctx, measures...)
	for i, median := range medians {
		all[i].rate = median
	}
	return err
}

// measureRound measures one round, and returns how many were done in a second.
func (s *series) measureRound(ctx context.Context) (float64, error) {
	if s.prepare != nil {
		if err := s.prepare(ctx); err != nil {
			return 0, err
		}
	}
	if s.cleanUp != nil {
		defer s.cleanUp()
	}
	if err := s.cost.begin(); err != nil {
		return 0, err
	}

	began := time.Now()
	r, err := s.measure(ctx)
	if err == nil && s.after != nil {
		err = s.after(ctx)
	}
	whole := float64(r.count) / time.Since(began).Seconds()
	if err := errors.Join(err, s.cost.end(r.count)); err != nil {
		return 0, err
	}

	s.whole, s.waits = append(s.whole, whole), append(s.waits, r.waits...)
	if r.perSecond == 0 {
		return whole, nil
	}
	return r.perSecond, nil
}
