package main

import (
	"context"
	"fmt"
	"time"

	"confab/storage"
)

// waitingJobs is how many jobs wait while messages are accepted, unless it is a quick look.
const waitingJobs = 100_000

// waiting compares a server with very many jobs that wait for their time with one that has
// none: sends that a slow number holds up, sends for later, and deliveries
// that will be tried again.
func (b *bench) waiting(ctx context.Context, o *installation) error {
	jobs := waitingJobs
	if b.quick {
		jobs /= 10
	}

	// They are due in an hour or later, so that none of them runs while something is measured.
	busy, err := b.startSibling(ctx, o, fewMessages, func(s *server) error {
		return insertMany(ctx, s.db, jobs, 1000, func(tx *storage.Tx, n int) error {
			_, err := tx.Enqueue(waitingJob(s.account.ID, n, tx.Now))
			return err
		})
	})
	if err != nil {
		return err
	}
	defer busy.close()

	with, without := b.newSends(busy), b.newSends(o.server)
	without.name = "that with none"
	if err := b.measureAll(ctx, without, with); err != nil {
		return err
	}
	b.table.addRatio(with, without, 0.95, row{
		id:        "P17",
		what:      fmt.Sprintf("POST message accepted, 64 connections, while %d jobs wait", jobs),
		callbacks: callbacksOff,
	})
	return nil
}

// newSends measures sends to one of two servers. A round ends when no message is left that
// could be sent: all those in the queue are due later.
func (b *bench) newSends(s *server) *series {
	return b.newSeries(load{address: s.Address, connections: 64, request: s.message}, func(ctx context.Context) error {
		return pollDatabase(ctx, s.db, 5*time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, 1)
			return len(left) == 0, err
		})
	}, s.serverProcess())
}

// waitingJob is the nth job that waits.
func waitingJob(account int64, n int, now storage.Time) storage.NewJob {
	due := now.Add(time.Hour + time.Duration(n)*time.Second/10)
	message := storage.AboutMessage{
		AboutAccount: storage.AboutAccount{Account: account},
		Message:      fmt.Sprintf("msg_%026d", n),
	}

	switch n % 3 {
	case 0: // of another number, whose messages are held up
		return storage.NewJob{Kind: "send", Lane: fmt.Sprint("send:", account+1), Args: message, DueAt: due}
	case 1:
		return storage.NewJob{Kind: "send.later", Args: message, DueAt: due}
	default:
		delivery := storage.AboutDelivery{Delivery: fmt.Sprintf("wbd_%026d", n)}
		return storage.NewJob{Kind: storage.KindDeliver, Lane: fmt.Sprint("deliver:", n%100), Args: delivery, DueAt: due}
	}
}
