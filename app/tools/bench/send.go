package main

import (
	"context"
	"fmt"
	"time"

	"confab/storage"
)

// send measures messages from the POST until the provider's answer is recorded: how many
// are accepted, and how many are sent and recorded.
func (b *bench) send(ctx context.Context, o *installation) error {
	for _, c := range []callbacks{callbacksOff, callbacksOn} {
		if err := setCallbacks(o.provider, c); err != nil {
			return err
		}

		for _, connections := range []int{1, 16, 64} {
			s := b.newSeries(load{address: o.Address, connections: connections, request: o.message}, o.awaitSent, o.processes()...)
			if err := b.measureAll(ctx, s); err != nil {
				return err
			}
			b.table.addRate(s, row{
				id:        "P1",
				what:      "POST message accepted durably, " + connectionsText(connections),
				callbacks: c,
				detail:    fmt.Sprintf("%s; sent and recorded %s", latencyText(s.waits), perSecond(median(s.whole))),
			})
		}
	}
	return o.checkStored(ctx)
}

// inbound measures callbacks of the provider with messages of people. They are answered
// when the messages are stored with their events.
func (b *bench) inbound(ctx context.Context, o *installation) error {
	for _, step := range []struct{ connections, each int }{{1, 1}, {16, 1}, {64, 1}, {4, 50}} {
		callback := func() []byte { return o.callbackOf(o.received.Add(int64(step.each)), step.each) }
		s := b.newSeries(load{address: o.Address, connections: step.connections, request: callback, each: step.each}, nil,
			o.serverProcess(), loadGenerator)
		if err := b.measureAll(ctx, s); err != nil {
			return err
		}
		b.table.addRate(s, row{
			what: fmt.Sprintf("texts of people stored with their events, %d a callback, %s",
				step.each, connectionsText(step.connections)),
			callbacks: callbacksOff,
			detail:    latencyText(s.waits),
		})
	}
	return o.checkStored(ctx)
}

// checkStored checks that every acknowledged message is stored once and with its event,
// and that the provider refused none.
func (s *server) checkStored(ctx context.Context) error {
	acknowledged := s.sent.Load() + s.received.Load()
	return s.db.View(ctx, func(rx *storage.Rx) error {
		there, err := rx.CountPurge(storage.PurgeScope{Before: storage.Now().Add(time.Hour)}) // which counts all
		if err != nil {
			return err
		}

		failed, _, err := rx.Messages(s.account.ID, storage.MessageFilter{Status: storage.MessageFailed}, storage.First, 1)
		if err == nil && (there.Messages != acknowledged || there.Events < acknowledged || len(failed) > 0) {
			err = fmt.Errorf("%d messages were acknowledged, %d are there, with %d events; some failed: %t",
				acknowledged, there.Messages, there.Events, len(failed) > 0)
		}
		return err
	})
}
