package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// queue measures jobs that do nothing: 16 callers enqueue, 16 workers work.
func (b *bench) queue() error {
	s, err := b.newScratch()
	if err != nil {
		return err
	}
	defer s.remove()
	picked := make(chan time.Time, 1024)
	runner := queue.New(queue.Options{
		DB: s.DB, Workers: 16, Poll: time.Second, Grace: time.Second, Log: slog.New(slog.DiscardHandler),
		Kinds: []queue.Kind{
			{Name: "nothing", Handle: func(context.Context, storage.Job) (queue.Commit, error) { return nil, nil }},
			{Name: "watched", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				picked <- time.Now()
				return nil, nil
			}},
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	defer func() { stop(); <-ended }()

	var rates, costs []float64
	for range b.rounds {
		rate, cost, err := throughput(s, b.length)
		if err != nil {
			return err
		}
		rates, costs = append(rates, rate), append(costs, cost)
	}
	b.add("jobs enqueued and completed, 16 + 16", perSecond(median(rates)), fmt.Sprintf("processor %.0f µs each", median(costs)))
	return b.pickUp(s, picked)
}

// throughput enqueues for a while and counts until the last job is done. It
// returns jobs per second and microseconds of processor time per job.
func throughput(s *scratch, length time.Duration) (each, cost float64, err error) {
	began, spent := time.Now(), cpuOf(os.Getpid())
	rate, err := hammer(16, length, func(ctx context.Context) error {
		return s.Update(ctx, func(tx *storage.Tx) error {
			_, err := tx.Enqueue(storage.NewJob{Kind: "nothing", Args: struct{}{}})
			return err
		})
	})
	if err != nil {
		return 0, 0, err
	}
	enqueued := rate * time.Since(began).Seconds()
	for {
		var left []storage.JobCount
		err := s.View(context.Background(), func(rx *storage.Rx) (err error) { left, err = rx.JobCounts(); return err })
		if err != nil {
			return 0, 0, err
		}
		if len(left) == 0 {
			return enqueued / time.Since(began).Seconds(), micros(cpuOf(os.Getpid())-spent) / enqueued, nil
		}
		time.Sleep(time.Millisecond)
	}
}

// pickUp measures the time from calling Update to the handler's first line.
func (b *bench) pickUp(s *scratch, picked <-chan time.Time) error {
	var waits []time.Duration
	for range 200 * b.rounds {
		began := time.Now()
		err := s.Update(context.Background(), func(tx *storage.Tx) error {
			_, err := tx.Enqueue(storage.NewJob{Kind: "watched", Args: struct{}{}})
			return err
		})
		if err != nil {
			return err
		}
		waits = append(waits, (<-picked).Sub(began))
		time.Sleep(time.Millisecond) // idle in between: this is latency, not load
	}
	p50, p99 := percentile(waits, 50), percentile(waits, 99)
	b.add("job picked up after enqueueing began, idle", fmt.Sprintf("p50 %.2f ms", ms(p50)), fmt.Sprintf("p99 %.2f ms", ms(p99)))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
