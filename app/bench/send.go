package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"confab/storage"
)

// send measures messages from the POST to the recorded answer of the provider.
func (b *bench) send(ctx context.Context) error {
	o, _, err := b.openOffice(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()
	var n atomic.Int64
	for _, c := range []callbacks{callbacksOff, callbacksOn} {
		if err := report(o.provider, c); err != nil {
			return err
		}
		for _, connections := range []int{1, 16, 64} {
			if err := b.accepted(ctx, o, connections, c, &n); err != nil {
				return err
			}
		}
	}
	return allThere(ctx, o, n.Load())
}

// accepted measures the rate at which messages are accepted, and that at which the
// provider has them and this is recorded.
func (b *bench) accepted(ctx context.Context, o *office, connections int, c callbacks, n *atomic.Int64) error {
	var sends []float64
	cost := newMeter(o.workers()...)
	var waits []time.Duration
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := cost.begin(); err != nil {
			return 0, err
		}
		began := time.Now()
		l, err := drive(ctx, o.Address, connections, b.length, 200, func() []byte { return o.message(n.Add(1)) })
		if err != nil {
			return 0, err
		}
		if err := drained(ctx, o.db); err != nil {
			return 0, err
		}
		sends, waits = append(sends, float64(len(l.waits))/time.Since(began).Seconds()), append(waits, l.waits...)
		return l.perSecond, cost.end(len(l.waits))
	})
	if err != nil {
		return err
	}
	b.table.add(row{id: "P1", what: "POST message accepted durably, " + over(connections), callbacks: c, figure: perSecond(medians[0]),
		detail: fmt.Sprintf("%s; sent and recorded %s; %s", waiting(waits), perSecond(median(sends)), cost)})
	return nil
}

// drained waits until no message is queued any more.
func drained(ctx context.Context, db *storage.DB) error {
	for {
		var left []storage.Job
		err := db.View(ctx, func(rx *storage.Rx) (err error) {
			left, err = rx.Jobs(storage.JobFilter{Kind: "send", Limit: 1})
			return err
		})
		if err != nil || len(left) == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// allThere makes sure that what was acknowledged is there, once and with its
// event, and that the provider refused nothing.
func allThere(ctx context.Context, o *office, acknowledged int64) error {
	return o.db.View(ctx, func(rx *storage.Rx) error {
		there, err := rx.PurgeCounts(storage.Purge{Before: storage.Now().Add(time.Hour)}) // which counts all
		if err != nil {
			return err
		}
		account, err := rx.AccountByNumber(o.number)
		if err != nil {
			return err
		}
		failed, _, err := rx.Messages(account.ID, storage.MessageFilter{Status: storage.MessageFailed}, storage.First, 1)
		if err == nil && (there.Messages != acknowledged || there.Events < acknowledged || len(failed) > 0) {
			err = fmt.Errorf("%d messages were acknowledged, %d are there, with %d events; some failed: %t", acknowledged, there.Messages, there.Events, len(failed) > 0)
		}
		return err
	})
}
