package main

import (
	"fmt"
	"runtime"

	"confab/app/tools/rig"
)

// deliver measures the delivery of events to an endpoint, and what it costs the server.
func (b *bench) deliver(o *installation) {
	sent := o.subscribe("/hook", "message.sent")
	b.measureSentEvents(o)

	o.setStatus(sent, "paused")
	o.subscribe("/hook", "message.received")
	b.setCallbacks(o.provider, false)
	s := b.newDeliveries(o, 64, o.callback)
	b.measureAll(s)
	b.table.add("P6", "callback → stored → message.received delivered, 64 connections",
		perSecond(s.rate), nil, latencyText(s.waits)+"; "+s.costText())
}

// measureSentEvents measures from the POST of a message, through the provider, to the
// endpoint that receives message.sent, and the memory that the server needed for it.
func (b *bench) measureSentEvents(o *installation) {
	const what = "POST → provider → message.sent received, "
	alone := b.newDeliveries(o, 1, o.message)
	b.measureAll(alone)
	b.table.addLimited("P5", what+"1 connection, p50",
		ms(rig.Percentile(alone.waits, 50)), 5, " ms", latencyText(alone.waits)+"; "+alone.costText())

	for _, callbacks := range []bool{false, true} {
		b.setCallbacks(o.provider, callbacks)
		s := b.newDeliveries(o, 64, o.message)
		b.measureAll(s)

		limit := float64(runtime.NumCPU()) * 1e6 / s.cost() // if nothing else ran on the cores
		aim := atLeast(s.rate/limit, 0.75)
		if callbacks {
			aim = nil
		}
		b.table.add("P3", what+"64 connections", perSecond(s.rate), aim, fmt.Sprintf("%.2f of what %d cores allow (%s); %s; %s",
			s.rate/limit, runtime.NumCPU(), perSecond(limit), latencyText(s.waits), s.costText()))
	}

	peak := megabytes(o.PeakMemory())
	b.table.addLimited("P16", "memory under this load, at most", peak, 200, " MB", "")
}

// newDeliveries measures from the request that causes an event to the endpoint that
// receives it. A round ends when every event was delivered exactly once.
func (b *bench) newDeliveries(o *installation, connections int, request func() []byte) *series {
	cause := load{address: o.Address, connections: connections, length: b.length, request: request}
	return &series{processes: o.processes(), measure: func() round {
		t := o.receiver.Await(cause.run().count)
		return round{count: t.Count, waits: t.Waits}
	}}
}

// pacedRate is how many messages are sent a second: so few that nothing but the other
// endpoint can delay their deliveries.
const pacedRate = 200

// fairness compares the deliveries to one endpoint while another one hangs, until the
// server times out after 10 s, with those while the other one is paused.
func (b *bench) fairness(o *installation) {
	o.subscribe("/hook", "message.sent")
	hanging := o.subscribe("/hang", "message.sent")

	hung := 0
	paced := load{address: o.Address, connections: 1, length: 3 * b.length, rate: pacedRate, request: o.message}
	measure := func(status string) func() float64 {
		return func() float64 {
			o.setStatus(hanging, status)
			t := o.receiver.Await(paced.run().count)
			hung += t.Hanging
			return ms(rig.Percentile(t.Waits, 99))
		}
	}

	medians := b.interleave(measure("paused"), measure("active"))
	rig.Require(hung > 0, "nothing was sent to the endpoint that hangs")
	b.table.addSlowdown("P15", fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", pacedRate),
		medians[1], medians[0], 1.5)
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
func (b *bench) rules(o *installation) {
	o.subscribe("/hook", "message.received")
	hours := `{"timezone":"Europe/Madrid","weekly":{"mon":[["00:00","24:00"]],"tue":[["00:00","24:00"]],"wed":[["00:00","24:00"]],` +
		`"thu":[["00:00","24:00"]],"fri":[["00:00","24:00"]],"sat":[["00:00","24:00"]],"sun":[["00:00","24:00"]]}}`
	o.api.Call("PUT", "/"+o.number+"/hours", hours, nil)

	var ids []string
	for _, body := range benchRules() {
		ids = append(ids, o.create("/rules", body))
	}
	newSeries := func(enabled bool) *series {
		s := b.newDeliveries(o, 64, o.callback)
		s.prepare = func() {
			for _, id := range ids {
				o.api.Call("PATCH", "/rules/"+id, fmt.Sprintf(`{"enabled":%t}`, enabled), nil)
			}
		}
		return s
	}

	without, with := newSeries(false), newSeries(true)
	without.name = "without rules"
	b.measureAll(without, with)
	b.table.addRatio("P25", "callback → stored → message.received delivered, with ten rules, 64 connections", with, without, 0.9)
	o.checkStored()
}
