package main

import (
	"context"
	"fmt"
	"log/slog"
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

	jobs := b.newCalls(16, func(ctx context.Context) error { return s.enqueue(ctx, "nothing") })
	jobs.cost.processes = []process{{"one process", loadGenerator.used}}
	jobs.after = func(ctx context.Context) error {
		return pollDatabase(ctx, s.DB, time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, err := rx.JobCounts()
			return len(left) == 0, err
		})
	}
	if err := b.measureAll(ctx, jobs); err != nil {
		return err
	}
	b.table.addRate(jobs, row{id: "P7", what: "jobs enqueued and completed, 16 + 16"})
	return b.measurePickUp(ctx, s, picked)
}

func (s *scratch) enqueue(ctx context.Context, kind string) error {
	return s.Update(ctx, func(tx *storage.Tx) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: storage.AboutNoAccount{}})
		return err
	})
}

// measurePickUp measures the time from calling Update to the first line of the handler.
func (b *bench) measurePickUp(ctx context.Context, s *scratch, picked <-chan time.Time) error {
	var waits []time.Duration
	for range 200 * b.rounds {
		began := time.Now()
		if err := s.enqueue(ctx, "watched"); err != nil {
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
