package main

import (
	"context"
	"fmt"
)

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
func (b *bench) rules(ctx context.Context, o *installation) error {
	if _, err := o.subscribe("/hook", "message.received"); err != nil {
		return err
	}
	hours := `{"timezone":"Europe/Madrid","weekly":{"mon":[["00:00","24:00"]],"tue":[["00:00","24:00"]],"wed":[["00:00","24:00"]],` +
		`"thu":[["00:00","24:00"]],"fri":[["00:00","24:00"]],"sat":[["00:00","24:00"]],"sun":[["00:00","24:00"]]}}`
	if err := o.api.Call("PUT", "/"+o.number+"/hours", hours, nil); err != nil {
		return err
	}

	var ids []string
	for _, body := range benchRules() {
		var made struct {
			Data struct{ ID string }
		}
		if err := o.api.Call("POST", "/rules", body, &made); err != nil {
			return err
		}
		ids = append(ids, made.Data.ID)
	}
	enable := func(on bool) func(context.Context) error {
		return func(context.Context) error {
			for _, id := range ids {
				if err := o.api.Call("PATCH", "/rules/"+id, fmt.Sprintf(`{"enabled":%t}`, on), nil); err != nil {
					return err
				}
			}
			return nil
		}
	}

	for _, connections := range []int{1, 64} {
		least := 0.0
		if connections == 64 { // as P6 is measured
			least = 0.9
		}
		without, with := b.deliverySeries(o, connections, o.callback), b.deliverySeries(o, connections, o.callback)
		without.name = "without rules"
		without.prepare, with.prepare = enable(false), enable(true)
		if err := b.measureAll(ctx, without, with); err != nil {
			return err
		}
		b.table.addRatio(with, without, least, row{
			id:        "P6",
			what:      "callback → stored → message.received delivered, with ten rules, " + connectionsText(connections),
			callbacks: callbacksOff,
		})
	}
	return o.checkStored(ctx)
}
