package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// inOneCallback is how many messages a large callback holds.
const inOneCallback = 50

// inbound measures messages from the provider's POST to their being stored with
// their events, which is when it is answered.
func (b *bench) inbound(ctx context.Context) error {
	o, _, err := b.openOffice(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()
	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		if err := b.heard(ctx, o, connections, 1, &n); err != nil {
			return err
		}
	}
	if err := b.heard(ctx, o, 4, inOneCallback, &n); err != nil {
		return err
	}
	return allThere(ctx, o, n.Load())
}

// heard measures callbacks with so many messages each.
func (b *bench) heard(ctx context.Context, o *office, connections, each int, n *atomic.Int64) error {
	var waits []time.Duration
	cost := newMeter(worker{"server", o.Processor}, generator)
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := cost.begin(); err != nil {
			return 0, err
		}
		l, err := drive(ctx, o.Address, connections, b.length, 200, func() []byte { return o.callback(n.Add(int64(each)), each) })
		if err != nil {
			return 0, err
		}
		waits = append(waits, l.waits...)
		return l.perSecond * float64(each), cost.end(len(l.waits) * each)
	})
	if err != nil {
		return err
	}
	b.table.add(row{what: fmt.Sprintf("texts of people stored with their events, %d a callback, %s", each, over(connections)), callbacks: callbacksOff, figure: perSecond(medians[0]),
		detail: fmt.Sprintf("%s; %s", waiting(waits), cost)})
	return nil
}
