package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"confab/storage"
)

// waitingJobs is how many jobs wait while messages are accepted, unless it is a quick look.
const waitingJobs = 100_000

// waiting compares a server with very many jobs that wait for their time with one that has
// none: sends of a slow number that wait for their turn, sends for later, and deliveries
// that will be tried again.
func (b *bench) waiting(ctx context.Context) error {
	jobs := waitingJobs
	if b.quick {
		jobs /= 10
	}
	p, err := b.openPair(ctx, func(s *server) error { return b.storeWaiting(ctx, s, jobs) })
	if err != nil {
		return err
	}
	defer p.close()

	sends, err := p.compareSends(ctx, b)
	if err != nil {
		return err
	}
	b.table.add(row{
		id:        "P17",
		what:      fmt.Sprintf("POST message accepted, 64 connections, while %d jobs wait", jobs),
		callbacks: callbacksOff,
		figure:    perSecond(sends.changed),
		detail: fmt.Sprintf("%.2f of that with none (%s); %s; without: %s",
			sends.ratio(), perSecond(sends.plain), sends.changedCost, sends.plainCost),
		goal: atLeast(sends.ratio(), 0.95),
	})
	return nil
}

// storeWaiting stores jobs in the database of a server, which must not run yet. They are
// due in an hour or later, so that none of them runs while something is measured.
func (b *bench) storeWaiting(ctx context.Context, s *server, jobs int) error {
	db, err := b.open(s)
	if err != nil {
		return err
	}

	for made := 0; made < jobs && err == nil; made += 1000 {
		err = db.Update(ctx, func(tx *storage.Tx) error {
			account, err := tx.AccountByNumber(s.number)
			for i := made; i < made+1000 && err == nil; i++ {
				_, err = tx.Enqueue(waitingJob(account.ID, i, tx.Now))
			}
			return err
		})
	}
	return errors.Join(err, db.Close())
}

// waitingJob is the nth job that waits.
func waitingJob(account int64, n int, now storage.Time) storage.NewJob {
	due := now.Add(time.Hour + time.Duration(n)*time.Second/10)
	message := storage.AboutMessage{
		AboutAccount: storage.AboutAccount{Account: account},
		Message:      fmt.Sprintf("msg_%026d", n),
	}

	switch n % 3 {
	case 0: // of another number, whose messages wait for their turns
		return storage.NewJob{Kind: "send", Lane: fmt.Sprint("send:", account+1), Args: message, DueAt: due}
	case 1:
		return storage.NewJob{Kind: "send.later", Args: message, DueAt: due}
	default:
		delivery := storage.AboutDelivery{Delivery: fmt.Sprintf("wbd_%026d", n)}
		return storage.NewJob{Kind: storage.KindDeliver, Lane: fmt.Sprint("deliver:", n%100), Args: delivery, DueAt: due}
	}
}

// awaitAllSent waits until no message is left that could be sent: all those in the queue
// are due later.
func awaitAllSent(ctx context.Context, o *installation) error {
	return pollQueue(ctx, 5*time.Millisecond, func() (isDone bool, err error) {
		err = o.db.View(ctx, func(rx *storage.Rx) error {
			account, err := rx.AccountByNumber(o.number)
			if err != nil {
				return err
			}
			left, _, err := rx.Messages(account.ID, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, 1)
			isDone = len(left) == 0
			return err
		})
		return isDone, err
	})
}
