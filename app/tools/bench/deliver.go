package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// deliver measures the delivery of events to an endpoint, and what it costs the server.
func (b *bench) deliver(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	sent, err := o.subscribe("/hook", "message.sent")
	if err != nil {
		return err
	}
	if err := b.measureSentEvents(ctx, o); err != nil {
		return err
	}

	if err := o.setStatus(sent, "paused"); err != nil {
		return err
	}
	if _, err := o.subscribe("/hook", "message.received"); err != nil {
		return err
	}

	if err := setCallbacks(o.provider, callbacksOff); err != nil {
		return err
	}

	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		d, err := b.measureDelivery(ctx, o, connections, func() []byte { return o.callback(n.Add(1), 1) })
		if err != nil {
			return err
		}

		b.table.add(row{
			id:        "P6",
			what:      "callback → stored → message.received delivered, " + connectionsText(connections),
			callbacks: callbacksOff,
			figure:    perSecond(d.rate),
			detail:    fmt.Sprintf("%s; %s", latencyText(d.waits), d.cost),
		})
	}
	return nil
}

// measureSentEvents measures from the POST of a message, through the provider, to the
// endpoint that receives message.sent, and the memory that the server needed for it.
func (b *bench) measureSentEvents(ctx context.Context, o *installation) error {
	var n atomic.Int64
	for _, step := range []struct {
		connections int
		callbacks   callbacks
	}{{1, callbacksOff}, {16, callbacksOff}, {64, callbacksOff}, {64, callbacksOn}} {
		if err := setCallbacks(o.provider, step.callbacks); err != nil {
			return err
		}

		d, err := b.measureDelivery(ctx, o, step.connections, func() []byte { return o.message(n.Add(1)) })
		if err != nil {
			return err
		}

		what := "POST → provider → message.sent received, " + connectionsText(step.connections)
		limit := processorLimit(d.cost.sum())
		r := row{
			id:        "P3",
			what:      what,
			callbacks: step.callbacks,
			figure:    perSecond(d.rate),
			detail: fmt.Sprintf("%.2f of what %d cores allow (%s); %s; %s",
				d.rate/limit, runtime.NumCPU(), perSecond(limit), d.cost, latencyText(d.waits)),
		}

		if step.connections == 64 && step.callbacks == callbacksOff {
			r.goal = atLeast(d.rate/limit, 0.75)
		}
		b.table.add(r)

		if step.connections == 1 {
			p50 := ms(percentile(d.waits, 50))
			b.table.add(row{
				id:        "P5",
				what:      what + ", p50",
				callbacks: step.callbacks,
				figure:    fmt.Sprintf("%.2f ms", p50),
				detail:    latencyText(d.waits),
				goal:      atMost(p50, 5, " ms"),
			})
		}
	}

	peak, err := o.PeakMemory()
	if err != nil {
		return err
	}
	b.table.add(row{
		id:        "P16",
		what:      "memory under this load, at most",
		callbacks: callbacksOn,
		figure:    fmt.Sprintf("%.0f MB", megabytes(peak)),
		goal:      atMost(megabytes(peak), 200, " MB"),
	})
	return nil
}

// processorLimit returns the rate that the cores allow if each costs micros microseconds
// and nothing else runs.
func processorLimit(micros float64) float64 { return float64(runtime.NumCPU()) * 1e6 / micros }

// delivery is the result of measureDelivery.
type delivery struct {
	rate  float64
	waits []time.Duration
	cost  *meter
}

// measureDelivery measures from the request that causes an event to the endpoint that
// receives it. A round ends when every event was delivered exactly once.
func (b *bench) measureDelivery(ctx context.Context, o *installation, connections int, request func() []byte) (delivery, error) {
	d := delivery{cost: newMeter(o.processes()...)}

	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := d.cost.begin(); err != nil {
			return 0, err
		}

		began := time.Now()
		l, err := runLoad(ctx, o.Address, connections, b.length, 200, request)
		if err != nil {
			return 0, err
		}

		t, err := o.receiver.Await(len(l.waits))
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
