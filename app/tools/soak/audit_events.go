package main

import (
	"encoding/json"
	"maps"
	"slices"

	"confab/app/tools/rig"
)

// delivery is a webhook delivery as the API shows it.
type delivery struct {
	ID           string  `json:"id"`
	EventType    string  `json:"event_type"`
	EventID      string  `json:"event_id"`
	Status       string  `json:"status"`
	ReplayedFrom *string `json:"replayed_from"`
}

// auditEvents compares what happened with what the endpoints received: each endpoint
// that was subscribed during the whole trial must have accepted every event.
func (o *tenant) auditEvents(r *report, rows map[string]row, seen rig.Findings) error {
	receipts := make(map[string]map[string]*rig.Receipt) // by endpoint and delivery
	for _, one := range seen.Receipts {
		if receipts[one.Endpoint] == nil {
			receipts[one.Endpoint] = make(map[string]*rig.Receipt)
		}
		receipts[one.Endpoint][one.Delivery] = one
	}

	taken := make(map[string]map[string]bool) // events by endpoint
	for _, kind := range lastingHooks {
		endpoint := o.endpointName(kind)
		taken[kind] = o.takenEvents(r, receipts[endpoint])
		if err := o.auditDeliveries(r, kind, receipts[endpoint]); err != nil {
			return err
		}

		if numbers := seen.Numbers[endpoint]; !slices.Equal(numbers, []string{o.number}) {
			r.discrepancy("%s: %s was told of numbers %v, not of %s alone", o.name, kind, numbers, o.number)
		}
	}

	for _, kind := range lastingHooks[1:] {
		if !maps.Equal(taken[kind], taken[lastingHooks[0]]) {
			r.discrepancy("%s: %s took %d events and %s took %d",
				o.name, kind, len(taken[kind]), lastingHooks[0], len(taken[lastingHooks[0]]))
		}
	}

	o.auditCounts(r, rows, receipts[o.endpointName(hookSteady)])
	o.auditBroadcastEvents(r, receipts[o.endpointName(hookSteady)])
	o.taken = taken[hookSteady]
	r.events += len(o.taken)
	return nil
}

// takenEvents returns the events that an endpoint answered with 2xx.
func (o *tenant) takenEvents(r *report, receipts map[string]*rig.Receipt) map[string]bool {
	events := make(map[string]bool)
	for _, one := range receipts {
		if one.Taken > 0 {
			events[one.Event] = true
		}
		if one.Taken > 1 {
			r.repeated++
		}
		r.deliveries += one.Seen
	}
	return events
}

// auditDeliveries compares the deliveries of a subscription with the receipts.
func (o *tenant) auditDeliveries(r *report, kind string, receipts map[string]*rig.Receipt) error {
	known := make(map[string]bool)
	err := o.eachItem("/webhook_deliveries?limit=100&subscription_id="+o.hooks[kind], func(item json.RawMessage) error {
		var d delivery
		if err := json.Unmarshal(item, &d); err != nil {
			return err
		}

		known[d.ID] = true

		got := receipts[d.ID]
		switch {
		case d.Status == "succeeded" && (got == nil || got.Taken == 0):
			r.discrepancy("%s: %s says %s succeeded, but it never came", o.name, kind, d.ID)
		case d.Status == "pending" || d.Status == "failed":
			r.discrepancy("%s: %s is left with %s %s", o.name, kind, d.Status, d.ID)
		case got != nil && (got.EventID != d.EventID || got.Type != d.EventType):
			r.discrepancy("%s: %s got %s as %s of %s", o.name, kind, d.ID, got.Type, got.EventID)
		}
		return nil
	})

	for id := range receipts {
		if err == nil && !known[id] {
			r.discrepancy("%s: %s got %s, which is not in the list", o.name, kind, id)
		}
	}
	return err
}

// auditCounts checks the number of events: one for each message sent or received, and
// one for each status.
func (o *tenant) auditCounts(r *report, rows map[string]row, receipts map[string]*rig.Receipt) {
	told := make(map[string]map[string]bool) // distinct events by type and event id
	for _, one := range receipts {
		key := one.Type + " " + one.EventID
		if told[key] == nil {
			told[key] = make(map[string]bool)
		}
		told[key][one.Event] = true
	}

	expect := func(kind, id string, want int) {
		if got := len(told[kind+" "+id]); got != want {
			r.discrepancy("%s: %d events %s of %s, not %d", o.name, got, kind, id, want)
		}
	}

	for id, m := range rows {
		if m.Status == "failed" {
			continue
		}
		prefix := ""
		if m.Source == sourceBroadcast {
			prefix = "broadcast_msg:"
		}
		expect("message.sent", prefix+id+":sent", 1)
		statuses := []string{"sent", "delivered", "read"}
		expect("message.status", m.MessageID, 1+slices.Index(statuses, finalStatus(m.Type)))
	}
	for id := range o.received {
		expect("message.received", id, 1)
	}
}
