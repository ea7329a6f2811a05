package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// messagesPerCallback is how many messages a large callback holds.
const messagesPerCallback = 50

// inbound measures callbacks of the provider with messages of people. They are answered
// when the messages are stored with their events.
func (b *bench) inbound(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		if err := b.measureCallbacks(ctx, o, connections, 1, &n); err != nil {
			return err
		}
	}

	if err := b.measureCallbacks(ctx, o, 4, messagesPerCallback, &n); err != nil {
		return err
	}

	return checkStored(ctx, o, n.Load())
}

// measureCallbacks measures callbacks with each messages in one of them.
func (b *bench) measureCallbacks(ctx context.Context, o *installation, connections, each int, n *atomic.Int64) error {
	var waits []time.Duration

	cost := newMeter(process{"server", o.CPUTime}, loadGenerator)
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := cost.begin(); err != nil {
			return 0, err
		}

		l, err := runLoad(ctx, o.Address, connections, b.length, 200, func() []byte { return o.callback(n.Add(int64(each)), each) })
		if err != nil {
			return 0, err
		}
		waits = append(waits, l.waits...)
		return l.perSecond * float64(each), cost.end(len(l.waits) * each)
	})
	if err != nil {
		return err
	}

	b.table.add(row{
		what:      fmt.Sprintf("texts of people stored with their events, %d a callback, %s", each, connectionsText(connections)),
		callbacks: callbacksOff,
		figure:    perSecond(medians[0]),
		detail:    fmt.Sprintf("%s; %s", latencyText(waits), cost),
	})
	return nil
}
