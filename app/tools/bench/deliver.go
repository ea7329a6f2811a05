package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// deliver measures the delivery of events to an endpoint, and what it costs the server.
func (b *bench) deliver(ctx context.Context, o *installation) error {
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

	for _, connections := range []int{1, 16, 64} {
		s, err := b.measureDelivery(ctx, o, connections, o.callback)
		if err != nil {
			return err
		}
		b.table.addRate(s, row{
			id:        "P6",
			what:      "callback → stored → message.received delivered, " + connectionsText(connections),
			callbacks: callbacksOff,
			detail:    latencyText(s.waits),
		})
	}
	return nil
}

// measureSentEvents measures from the POST of a message, through the provider, to the
// endpoint that receives message.sent, and the memory that the server needed for it.
func (b *bench) measureSentEvents(ctx context.Context, o *installation) error {
	for _, step := range []struct {
		connections int
		callbacks   callbacks
	}{{1, callbacksOff}, {16, callbacksOff}, {64, callbacksOff}, {64, callbacksOn}} {
		if err := setCallbacks(o.provider, step.callbacks); err != nil {
			return err
		}
		s, err := b.measureDelivery(ctx, o, step.connections, o.message)
		if err != nil {
			return err
		}

		limit := float64(runtime.NumCPU()) * 1e6 / s.cost.sum() // if nothing else ran on the cores
		r := row{
			id:        "P3",
			what:      "POST → provider → message.sent received, " + connectionsText(step.connections),
			callbacks: step.callbacks,
			detail: fmt.Sprintf("%.2f of what %d cores allow (%s); %s",
				s.rate/limit, runtime.NumCPU(), perSecond(limit), latencyText(s.waits)),
		}
		if step.connections == 64 && step.callbacks == callbacksOff {
			r.goal = atLeast(s.rate/limit, 0.75)
		}
		b.table.addRate(s, r)

		if step.connections == 1 {
			p50 := ms(percentile(s.waits, 50))
			r = row{id: "P5", what: r.what + ", p50", callbacks: step.callbacks, detail: latencyText(s.waits)}
			b.table.addLimited(p50, 5, " ms", r)
		}
	}

	peak, err := o.PeakMemory()
	if err != nil {
		return err
	}
	b.table.addLimited(megabytes(peak), 200, " MB", row{id: "P16", what: "memory under this load, at most", callbacks: callbacksOn})
	return nil
}

// measureDelivery measures from the request that causes an event to the endpoint that
// receives it. A round ends when every event was delivered exactly once.
func (b *bench) measureDelivery(ctx context.Context, o *installation, connections int, request func() []byte) (*series, error) {
	s := b.deliverySeries(o, connections, request)
	return s, b.measureAll(ctx, s)
}

// deliverySeries is what measureDelivery measures.
func (b *bench) deliverySeries(o *installation, connections int, request func() []byte) *series {
	cause := load{address: o.Address, connections: connections, length: b.length, request: request}
	s := &series{cost: meter{processes: o.processes()}}
	s.measure = func(ctx context.Context) (round, error) {
		r, err := cause.run(ctx)
		if err != nil {
			return r, err
		}
		t, err := o.receiver.Await(r.count)
		return round{count: t.Count, waits: t.Waits}, err
	}
	return s
}

// pacedRate is how many messages are sent a second: so few that nothing but the other
// endpoint can delay their deliveries.
const pacedRate = 200

// fairness compares the deliveries to one endpoint while another one hangs, until the
// server times out after 10 s, with those while the other one is paused.
func (b *bench) fairness(ctx context.Context, o *installation) error {
	if _, err := o.subscribe("/hook", "message.sent"); err != nil {
		return err
	}
	hanging, err := o.subscribe("/hang", "message.sent")
	if err != nil {
		return err
	}

	hung := 0
	paced := load{address: o.Address, connections: 1, length: 3 * b.length, rate: pacedRate, request: o.message}
	measure := func(status string) func() (float64, error) {
		return func() (float64, error) {
			if err := o.setStatus(hanging, status); err != nil {
				return 0, err
			}
			r, err := paced.run(ctx)
			if err != nil {
				return 0, err
			}
			t, err := o.receiver.Await(r.count)
			hung += t.Hanging
			return ms(percentile(t.Waits, 99)), err
		}
	}

	medians, err := b.interleave(ctx, measure("paused"), measure("active"))
	if err != nil {
		return err
	}
	if hung == 0 {
		return errors.New("nothing was sent to the endpoint that hangs")
	}
	b.table.addSlowdown(medians[1], medians[0], 1.5, row{
		id:        "P15",
		what:      fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", pacedRate),
		callbacks: callbacksOff,
	})
	return nil
}
