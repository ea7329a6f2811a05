package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// queue measures jobs that do nothing: 16 callers enqueue, 16 workers work.
func (b *bench) queue(ctx context.Context) error {
	s, err := b.newScratch()
	if err != nil {
		return err
	}
	defer s.remove()

	picked := make(chan time.Time, 1024)
	runner := queue.New(queue.Options{
		DB:      s.DB,
		Workers: 16,
		Poll:    time.Second,
		Grace:   time.Second,
		Log:     slog.New(slog.DiscardHandler),
		Kinds: []queue.Kind{
			{Name: "nothing", Handle: func(context.Context, storage.Job) (queue.Commit, error) { return nil, nil }},
			{Name: "watched", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				picked <- time.Now()
				return nil, nil
			}},
		},
	})

	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(running) }()
	defer func() { stop(); <-ended }()

	cost := newMeter(process{"one process", loadGenerator.used})
	medians, err := b.interleave(ctx, func() (float64, error) { return measureThroughput(ctx, s, b.length, cost) })
	if err != nil {
		return err
	}

	b.table.add(row{
		id:     "P7",
		what:   "jobs enqueued and completed, 16 + 16",
		figure: perSecond(medians[0]),
		detail: cost.String(),
	})
	return b.measurePickUp(ctx, s, picked)
}

// measureThroughput enqueues jobs for a time and waits until the last one is done. It
// returns jobs per second.
func measureThroughput(ctx context.Context, s *scratch, length time.Duration, cost *meter) (float64, error) {
	if err := cost.begin(); err != nil {
		return 0, err
	}
	began := time.Now()

	var enqueued atomic.Int64

	_, err := measureRate(ctx, 16, length, func(ctx context.Context) error {
		err := s.Update(ctx, func(tx *storage.Tx) error {
			_, err := tx.Enqueue(storage.NewJob{Kind: "nothing", Args: storage.AboutNoAccount{}})
			return err
		})
		enqueued.Add(1)
		return err
	})
	if err != nil {
		return 0, err
	}

	err = pollQueue(ctx, time.Millisecond, func() (bool, error) {
		var left []storage.JobCount
		err := s.View(ctx, func(rx *storage.Rx) (err error) { left, err = rx.JobCounts(); return err })
		return len(left) == 0, err
	})
	if err != nil {
		return 0, err
	}

	rate := float64(enqueued.Load()) / time.Since(began).Seconds()
	return rate, cost.end(int(enqueued.Load()))
}

// measurePickUp measures the time from calling Update to the first line of the handler.
func (b *bench) measurePickUp(ctx context.Context, s *scratch, picked <-chan time.Time) error {
	var waits []time.Duration
	for range 200 * b.rounds {
		began := time.Now()
		err := s.Update(ctx, func(tx *storage.Tx) error {
			_, err := tx.Enqueue(storage.NewJob{Kind: "watched", Args: storage.AboutNoAccount{}})
			return err
		})
		if err != nil {
			return err
		}
		waits = append(waits, (<-picked).Sub(began))
		time.Sleep(time.Millisecond) // idle in between: this is latency, not load
	}

	b.table.add(row{
		what:   "job picked up after enqueueing began, idle",
		figure: fmt.Sprintf("%.2f ms", ms(percentile(waits, 50))),
		detail: latencyText(waits),
	})
	return nil
}
