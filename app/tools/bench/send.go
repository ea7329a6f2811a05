package main

import (
	"fmt"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// send measures how many messages are accepted, once while each is sent, and once while sends are held
// back. It compares that with the creation of one record in PocketBase, if there is one.
func (b *bench) send(o *installation) {
	var peer *pocketbase
	if b.pocketbasePath != "" {
		peer = b.startPocketBase()
	}
	slow := b.startSibling(o, 0, func(s *server) { s.Env = append(s.Env, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=1") })

	for _, step := range []struct {
		connections     int
		accepted, whole float64 // goals
	}{{64, 5, 3}, {16, 4, 2.5}, {1, 2.5, 2}} {
		held := b.newSeries(load{address: slow.Address, connections: step.connections, request: slow.message}, nil, slow.serverProcess())
		sent := b.newSends(o.server, step.connections, o.serverProcess())
		what := fmt.Sprintf("POST message accepted durably, connections: %d, ", step.connections)
		whatHeld, whatSent := what+"sends wait for their turn", what+"each is sent"
		if peer == nil {
			b.measureAll(held, sent)
			b.table.addRate("P1", whatHeld, held)
			b.table.addRate("P1", whatSent, sent)
			continue
		}

		record := b.newSeries(load{address: peer.address, connections: step.connections, request: peer.record}, nil,
			process{name: "PocketBase", used: peer.CPUTime})
		record.name = "records of PocketBase"
		b.measureAll(record, held, sent)
		b.table.addRatio("P1", whatHeld, held, record, step.accepted)
		b.table.addRatio("P1", whatSent, sent, record, step.whole)
	}
	o.checkStored()
}

// checkStored checks that every acknowledged message is stored once and with its event,
// and that the provider refused none.
func (s *server) checkStored() {
	acknowledged, there := s.sent.Load()+s.received.Load(), s.countStored()
	failed := view(s.db, func(rx *storage.Rx) ([]storage.Message, error) {
		failed, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageFailed}, storage.First, 1)
		return failed, err
	})
	rig.Require(there.Messages == acknowledged && there.Events >= acknowledged && len(failed) == 0,
		"%d messages were acknowledged, %d are there, with %d events; some failed: %t",
		acknowledged, there.Messages, there.Events, len(failed) > 0)
}

func (s *server) countStored() storage.PurgeCounts {
	return view(s.db, func(rx *storage.Rx) (storage.PurgeCounts, error) {
		return rx.CountPurge(storage.PurgeScope{Before: storage.Now().Add(time.Hour)}) // which counts all
	})
}

const waitingJobs = 100_000

// waiting compares a server with very many jobs that wait for their time with one that has
// none: sends that a slow number holds up, sends for later, and deliveries
// that will be tried again.
func (b *bench) waiting(o *installation) {
	jobs := min(waitingJobs, b.messages/10)

	// They are due in an hour or later, so that none of them runs while something is measured.
	busy := b.startSibling(o, fewMessages, func(s *server) {
		insertMany(s.db, jobs, 1000, func(tx *storage.Tx, n int) { rig.Must(tx.Enqueue(waitingJob(s.account.ID, n, tx.Now))) })
	})

	with, without := b.newDueSends(busy), b.newDueSends(o.server)
	without.name = "that with none"
	b.measureAll(without, with)
	b.table.addRatio("P17", fmt.Sprintf("POST message accepted, 64 connections, while %d jobs wait", jobs), with, without, 0.95)
}

// newDueSends measures sends to one of two servers. A round ends when no message is left that
// could be sent: all those in the queue are due later.
func (b *bench) newDueSends(s *server) *series {
	sends := b.newSends(s, 64, s.serverProcess())
	sends.after = func() {
		pollDatabase(s.db, 5*time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, 1)
			return len(left) == 0, err
		})
	}
	return sends
}

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
