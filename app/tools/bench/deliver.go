package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"confab/app/tools/rig"
)

// deliver measures the delivery of events to an endpoint, and what it costs the server.
func (b *bench) deliver(ctx context.Context, o *installation) {
	sent := o.subscribe("/hook", "message.sent")
	b.measureSentEvents(ctx, o)

	o.setStatus(sent, "paused")
	o.subscribe("/hook", "message.received")
	b.setCallbacks(o.provider, callbacksOff)
	for _, connections := range []int{1, 16, 64} {
		s := b.newDeliveries(o, connections, o.callback)
		b.measureAll(ctx, s)
		b.table.addRate(s, row{
			id:     "P6",
			what:   "callback → stored → message.received delivered, " + connectionsText(connections),
			detail: latencyText(s.waits),
		})
	}
}

// measureSentEvents measures from the POST of a message, through the provider, to the
// endpoint that receives message.sent, and the memory that the server needed for it.
func (b *bench) measureSentEvents(ctx context.Context, o *installation) {
	for _, step := range []struct {
		connections int
		callbacks   callbacks
	}{{1, callbacksOff}, {16, callbacksOff}, {64, callbacksOff}, {64, callbacksOn}} {
		b.setCallbacks(o.provider, step.callbacks)
		s := b.newDeliveries(o, step.connections, o.message)
		b.measureAll(ctx, s)

		limit := float64(runtime.NumCPU()) * 1e6 / s.cost.sum() // if nothing else ran on the cores
		r := row{
			id:   "P3",
			what: "POST → provider → message.sent received, " + connectionsText(step.connections),
			detail: fmt.Sprintf("%.2f of what %d cores allow (%s); %s",
				s.rate/limit, runtime.NumCPU(), perSecond(limit), latencyText(s.waits)),
		}
		if step.connections == 64 && step.callbacks == callbacksOff {
			r.goal = atLeast(s.rate/limit, 0.75)
		}
		b.table.addRate(s, r)

		if step.connections == 1 {
			p50 := ms(rig.Percentile(s.waits, 50))
			r = row{id: "P5", what: r.what + ", p50", detail: latencyText(s.waits)}
			b.table.addLimited(p50, 5, " ms", r)
		}
	}

	peak := megabytes(o.Process().PeakMemory())
	b.table.addLimited(peak, 200, " MB", row{id: "P16", what: "memory under this load, at most"})
}

// newDeliveries measures from the request that causes an event to the endpoint that
// receives it. A round ends when every event was delivered exactly once.
func (b *bench) newDeliveries(o *installation, connections int, request func() []byte) *series {
	cause := load{address: o.Address, connections: connections, length: b.length, request: request}
	return &series{cost: meter{processes: o.processes()}, measure: func(ctx context.Context) round {
		t := o.receiver.Await(cause.run(ctx).count)
		return round{count: t.Count, waits: t.Waits}
	}}
}

// pacedRate is how many messages are sent a second: so few that nothing but the other
// endpoint can delay their deliveries.
const pacedRate = 200

// fairness compares the deliveries to one endpoint while another one hangs, until the
// server times out after 10 s, with those while the other one is paused.
func (b *bench) fairness(ctx context.Context, o *installation) {
	o.subscribe("/hook", "message.sent")
	hanging := o.subscribe("/hang", "message.sent")

	hung := 0
	paced := load{address: o.Address, connections: 1, length: 3 * b.length, rate: pacedRate, request: o.message}
	measure := func(status string) func() float64 {
		return func() float64 {
			o.setStatus(hanging, status)
			t := o.receiver.Await(paced.run(ctx).count)
			hung += t.Hanging
			return ms(rig.Percentile(t.Waits, 99))
		}
	}

	medians := b.interleave(ctx, measure("paused"), measure("active"))
	if hung == 0 {
		rig.Check(errors.New("nothing was sent to the endpoint that hangs"))
	}
	b.table.addSlowdown(medians[1], medians[0], 1.5, row{
		id:   "P15",
		what: fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", pacedRate),
	})
}

// benchRules are ten rules as teams have them: none of them does anything for most messages.
func benchRules() []string {
	rules := []string{
		`{"name":"away","on":"message_received","if":{"hours":"closed"},"then":[{"reply":{"text":"We are closed."}}]}`,
		`{"name":"welcome","on":"message_received","if":{"first_contact":true},"then":[{"note":"Somebody new."}]}`,
		`{"name":"close","on":"conversation_idle","if":{"idle_minutes":20160},"then":[{"resolve":true}]}`,
	}
	for i := range 7 {
		rules = append(rules, fmt.Sprintf(`{"name":"word %d","on":"message_received",`+
			`"if":{"text":{"match":"contains","any":["refund %d","invoice","price list"]}},"then":[{"note":"x"}]}`, i, i))
	}
	return rules
}

// rules measures P6 with ten rules beside P6 without, on one server.
func (b *bench) rules(ctx context.Context, o *installation) {
	o.subscribe("/hook", "message.received")
	hours := `{"timezone":"Europe/Madrid","weekly":{"mon":[["00:00","24:00"]],"tue":[["00:00","24:00"]],"wed":[["00:00","24:00"]],` +
		`"thu":[["00:00","24:00"]],"fri":[["00:00","24:00"]],"sat":[["00:00","24:00"]],"sun":[["00:00","24:00"]]}}`
	o.api.Call("PUT", "/"+o.number+"/hours", hours, nil)

	var ids []string
	for _, body := range benchRules() {
		ids = append(ids, o.create("/rules", body))
	}
	enable := func(on bool) func(context.Context) {
		return func(context.Context) {
			for _, id := range ids {
				o.api.Call("PATCH", "/rules/"+id, fmt.Sprintf(`{"enabled":%t}`, on), nil)
			}
		}
	}

	for _, connections := range []int{1, 64} {
		least := 0.0
		if connections == 64 { // as P6 is measured
			least = 0.9
		}
		without, with := b.newDeliveries(o, connections, o.callback), b.newDeliveries(o, connections, o.callback)
		without.name = "without rules"
		without.prepare, with.prepare = enable(false), enable(true)
		b.measureAll(ctx, without, with)
		b.table.addRatio(with, without, least, row{
			id:   "P6",
			what: "callback → stored → message.received delivered, with ten rules, " + connectionsText(connections),
		})
	}
	o.checkStored(ctx)
}
