package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// deliver measures events on their way to an endpoint, and what the server needs
// for them.
func (b *bench) deliver(ctx context.Context) error {
	o, _, err := b.openOffice(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()
	sent, err := o.subscribe("/hook", "message.sent")
	if err != nil {
		return err
	}
	if err := b.sentDelivered(ctx, o); err != nil {
		return err
	}
	if err := o.turn(sent, "paused"); err != nil {
		return err
	}
	if _, err := o.subscribe("/hook", "message.received"); err != nil {
		return err
	}
	if err := report(o.provider, callbacksOff); err != nil {
		return err
	}
	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		d, err := b.delivered(ctx, o, connections, func() []byte { return o.callback(n.Add(1), 1) })
		if err != nil {
			return err
		}
		b.table.add(row{id: "P6", what: "callback → stored → message.received delivered, " + over(connections), callbacks: callbacksOff,
			figure: perSecond(d.rate), detail: fmt.Sprintf("%s; %s", waiting(d.waits), d.cost)})
	}
	return nil
}

// sentDelivered measures from the POST, through the provider, to the endpoint that
// hears of it, and the memory that the server has needed by then.
func (b *bench) sentDelivered(ctx context.Context, o *office) error {
	var n atomic.Int64
	for _, step := range []struct {
		connections int
		callbacks   callbacks
	}{{1, callbacksOff}, {16, callbacksOff}, {64, callbacksOff}, {64, callbacksOn}} {
		if err := report(o.provider, step.callbacks); err != nil {
			return err
		}
		d, err := b.delivered(ctx, o, step.connections, func() []byte { return o.message(n.Add(1)) })
		if err != nil {
			return err
		}
		what := "POST → provider → message.sent received, " + over(step.connections)
		limit := processorLimit(d.cost.sum())
		r := row{id: "P3", what: what, callbacks: step.callbacks, figure: perSecond(d.rate),
			detail: fmt.Sprintf("%.2f of what %d cores allow (%s); %s; %s", d.rate/limit, runtime.NumCPU(), perSecond(limit), d.cost, waiting(d.waits))}
		if step.connections == 64 && step.callbacks == callbacksOff {
			r.goal = atLeast(d.rate/limit, 0.75)
		}
		b.table.add(r)
		if step.connections == 1 {
			p50 := ms(percentile(d.waits, 50))
			b.table.add(row{id: "P5", what: what + ", p50", callbacks: step.callbacks, figure: fmt.Sprintf("%.2f ms", p50), detail: waiting(d.waits), goal: atMost(p50, 5, " ms")})
		}
	}
	peak, err := o.PeakMemory()
	if err != nil {
		return err
	}
	b.table.add(row{id: "P16", what: "memory under this load, at most", callbacks: callbacksOn, figure: fmt.Sprintf("%.0f MB", megabytes(peak)), goal: atMost(megabytes(peak), 200, " MB")})
	return nil
}

// processorLimit is how many a second the cores allow if each costs so many
// microseconds and nothing else runs on them.
func processorLimit(micros float64) float64 { return float64(runtime.NumCPU()) * 1e6 / micros }

// delivery is what was measured of events on their way.
type delivery struct {
	rate  float64
	waits []time.Duration
	cost  *meter
}

// delivered measures from the request that causes an event to the endpoint that
// hears of it. A round ends when all have come, each once.
func (b *bench) delivered(ctx context.Context, o *office, connections int, request func() []byte) (delivery, error) {
	d := delivery{cost: newMeter(o.workers()...)}
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := d.cost.begin(); err != nil {
			return 0, err
		}
		began := time.Now()
		l, err := drive(ctx, o.Address, connections, b.length, 200, request)
		if err != nil {
			return 0, err
		}
		t, err := o.receiver.await(len(l.waits))
		if err != nil {
			return 0, err
		}
		took := time.Since(began)
		d.waits = append(d.waits, t.Waits...)
		return float64(t.Count) / took.Seconds(), d.cost.end(t.Count)
	})
	if err != nil {
		return d, err
	}
	d.rate = medians[0]
	return d, nil
}
