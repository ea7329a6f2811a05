package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"confab/storage"
)

// send measures messages from the POST until the provider's answer is recorded.
func (b *bench) send(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	var n atomic.Int64
	for _, c := range []callbacks{callbacksOff, callbacksOn} {
		if err := setCallbacks(o.provider, c); err != nil {
			return err
		}
		for _, connections := range []int{1, 16, 64} {
			if err := b.measureSends(ctx, o, connections, c, &n); err != nil {
				return err
			}
		}
	}

	return checkStored(ctx, o, n.Load())
}

// measureSends measures the rate at which messages are accepted, and the rate at which
// they are sent to the provider and recorded.
func (b *bench) measureSends(ctx context.Context, o *installation, connections int, c callbacks, n *atomic.Int64) error {
	var sends []float64
	cost := newMeter(o.processes()...)
	var waits []time.Duration

	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := cost.begin(); err != nil {
			return 0, err
		}
		began := time.Now()

		l, err := runLoad(ctx, o.Address, connections, b.length, 200, func() []byte { return o.message(n.Add(1)) })
		if err != nil {
			return 0, err
		}
		if err := awaitSent(ctx, o.db); err != nil {
			return 0, err
		}

		sends, waits = append(sends, float64(len(l.waits))/time.Since(began).Seconds()), append(waits, l.waits...)
		return l.perSecond, cost.end(len(l.waits))
	})
	if err != nil {
		return err
	}

	b.table.add(row{
		id:        "P1",
		what:      "POST message accepted durably, " + connectionsText(connections),
		callbacks: c,
		figure:    perSecond(medians[0]),
		detail:    fmt.Sprintf("%s; sent and recorded %s; %s", latencyText(waits), perSecond(median(sends)), cost),
	})
	return nil
}

// awaitSent waits until no message is queued any more.
func awaitSent(ctx context.Context, db *storage.DB) error {
	return pollQueue(ctx, time.Millisecond, func() (bool, error) {
		var left []storage.Job
		err := db.View(ctx, func(rx *storage.Rx) (err error) {
			left, err = rx.Jobs(storage.JobFilter{Kind: "send", Limit: 1})
			return err
		})
		return len(left) == 0, err
	})
}

// checkStored checks that every acknowledged message is stored once and with its event,
// and that the provider refused none.
func checkStored(ctx context.Context, o *installation, acknowledged int64) error {
	return o.db.View(ctx, func(rx *storage.Rx) error {
		there, err := rx.CountPurge(storage.PurgeScope{Before: storage.Now().Add(time.Hour)}) // which counts all
		if err != nil {
			return err
		}

		account, err := rx.AccountByNumber(o.number)
		if err != nil {
			return err
		}

		failed, _, err := rx.Messages(account.ID, storage.MessageFilter{Status: storage.MessageFailed}, storage.First, 1)
		if err == nil && (there.Messages != acknowledged || there.Events < acknowledged || len(failed) > 0) {
			err = fmt.Errorf("%d messages were acknowledged, %d are there, with %d events; some failed: %t",
				acknowledged, there.Messages, there.Events, len(failed) > 0)
		}
		return err
	})
}
