package main

import (
	"context"
	"fmt"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// send measures messages from the POST until the provider's answer is recorded: how many
// are accepted, and how many are sent and recorded.
func (b *bench) send(ctx context.Context, o *installation) {
	for _, c := range []callbacks{callbacksOff, callbacksOn} {
		b.setCallbacks(o.provider, c)
		for _, connections := range []int{1, 16, 64} {
			s := b.newSends(o.server, connections, o.processes()...)
			b.measureAll(ctx, s)
			b.table.addRate(s, row{
				id:     "P1",
				what:   "POST message accepted durably, " + connectionsText(connections),
				detail: fmt.Sprintf("%s; sent and recorded %s", latencyText(s.waits), perSecond(median(s.whole))),
			})
		}
	}
	o.checkStored(ctx)
}

// inbound measures callbacks of the provider with messages of people. They are answered
// when the messages are stored with their events.
func (b *bench) inbound(ctx context.Context, o *installation) {
	for _, step := range []struct{ connections, each int }{{1, 1}, {16, 1}, {64, 1}, {4, 50}} {
		callback := func() []byte { return o.callbackOf(o.received.Add(int64(step.each)), step.each) }
		s := b.newSeries(load{address: o.Address, connections: step.connections, request: callback, each: step.each}, nil,
			o.serverProcess(), loadGenerator)
		b.measureAll(ctx, s)
		b.table.addRate(s, row{
			what: fmt.Sprintf("texts of people stored with their events, %d a callback, %s",
				step.each, connectionsText(step.connections)),
			detail: latencyText(s.waits),
		})
	}
	o.checkStored(ctx)
}

// checkStored checks that every acknowledged message is stored once and with its event,
// and that the provider refused none.
func (s *server) checkStored(ctx context.Context) {
	acknowledged, there := s.sent.Load()+s.received.Load(), s.countStored(ctx)
	failed := view(ctx, s.db, func(rx *storage.Rx) ([]storage.Message, error) {
		failed, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageFailed}, storage.First, 1)
		return failed, err
	})
	if there.Messages != acknowledged || there.Events < acknowledged || len(failed) > 0 {
		rig.Check(fmt.Errorf("%d messages were acknowledged, %d are there, with %d events; some failed: %t",
			acknowledged, there.Messages, there.Events, len(failed) > 0))
	}
}

func (s *server) countStored(ctx context.Context) storage.PurgeCounts {
	return view(ctx, s.db, func(rx *storage.Rx) (storage.PurgeCounts, error) {
		return rx.CountPurge(storage.PurgeScope{Before: storage.Now().Add(time.Hour)}) // which counts all
	})
}

// waitingJobs is how many jobs wait while messages are accepted, unless it is a quick look.
const waitingJobs = 100_000

// waiting compares a server with very many jobs that wait for their time with one that has
// none: sends that a slow number holds up, sends for later, and deliveries
// that will be tried again.
func (b *bench) waiting(ctx context.Context, o *installation) {
	jobs := waitingJobs
	if b.quick {
		jobs /= 10
	}

	// They are due in an hour or later, so that none of them runs while something is measured.
	busy := b.startSibling(ctx, o, fewMessages, func(s *server) {
		insertMany(ctx, s.db, jobs, 1000, func(tx *storage.Tx, n int) error {
			_, err := tx.Enqueue(waitingJob(s.account.ID, n, tx.Now))
			return err
		})
	})
	defer busy.close()

	with, without := b.newDueSends(busy), b.newDueSends(o.server)
	without.name = "that with none"
	b.measureAll(ctx, without, with)
	b.table.addRatio(with, without, 0.95, row{
		id:   "P17",
		what: fmt.Sprintf("POST message accepted, 64 connections, while %d jobs wait", jobs),
	})
}

// newDueSends measures sends to one of two servers. A round ends when no message is left that
// could be sent: all those in the queue are due later.
func (b *bench) newDueSends(s *server) *series {
	sends := b.newSends(s, 64, s.serverProcess())
	sends.after = func(ctx context.Context) {
		pollDatabase(ctx, s.db, 5*time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, 1)
			return len(left) == 0, err
		})
	}
	return sends
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
