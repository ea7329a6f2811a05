package main

import (
	"maps"
	"slices"

	"confab/app/tools/rig"
)

// delivery is a webhook delivery as the API shows it.
type delivery struct {
	ID        string `json:"id"`
	EventType string `json:"event_type"`
	EventID   string `json:"event_id"`
	Status    string `json:"status"`
}

// auditEvents compares what happened with what the endpoints received: each endpoint
// that was subscribed during the whole trial must have accepted every event.
func (o *tenantAudit) auditEvents() error {
	receipts := make(map[string]map[string]*rig.Receipt) // by endpoint and delivery
	for _, one := range o.seen.Receipts {
		if receipts[one.Endpoint] == nil {
			receipts[one.Endpoint] = make(map[string]*rig.Receipt)
		}
		receipts[one.Endpoint][one.Delivery] = one
	}

	taken := make(map[string]map[string]bool) // events by endpoint
	for _, kind := range lastingHooks {
		endpoint := o.endpointName(kind)
		taken[kind] = o.takenEvents(receipts[endpoint])
		if err := o.auditDeliveries(kind, receipts[endpoint]); err != nil {
			return err
		}

		if numbers := o.seen.Numbers[endpoint]; !slices.Equal(numbers, []string{o.number}) {
			o.discrepancy("%s got events of numbers %v, not of %s alone", kind, numbers, o.number)
		}
	}

	for _, kind := range lastingHooks[1:] {
		if !maps.Equal(taken[kind], taken[lastingHooks[0]]) {
			o.discrepancy("%s took %d events and %s took %d",
				kind, len(taken[kind]), lastingHooks[0], len(taken[lastingHooks[0]]))
		}
	}

	o.auditCounts(receipts[o.endpointName(hookSteady)])
	o.taken = taken[hookSteady]
	o.report.events += len(o.taken)
	return nil
}

// takenEvents returns the events that an endpoint answered with 2xx.
func (o *tenantAudit) takenEvents(receipts map[string]*rig.Receipt) map[string]bool {
	events := make(map[string]bool)
	for _, one := range receipts {
		if one.Taken > 0 {
			events[one.Event] = true
		}
		if one.Taken > 1 {
			o.report.repeated++
		}
		o.report.deliveries += one.Seen
	}
	return events
}

// auditDeliveries compares the deliveries of a subscription with the receipts.
func (o *tenantAudit) auditDeliveries(kind string, receipts map[string]*rig.Receipt) error {
	all, err := list[delivery](o.client, "/webhook_deliveries?limit=100&subscription_id="+o.hooks[kind])
	if err != nil {
		return err
	}

	known := make(map[string]bool)
	for _, d := range all {
		known[d.ID] = true
		got := receipts[d.ID]
		switch {
		case d.Status == "succeeded" && (got == nil || got.Taken == 0):
			o.discrepancy("%s says %s succeeded, but it never came", kind, d.ID)
		case d.Status == "pending" || d.Status == "failed":
			o.discrepancy("%s is left with %s %s", kind, d.Status, d.ID)
		case got != nil && (got.EventID != d.EventID || got.Type != d.EventType):
			o.discrepancy("%s got %s as %s of %s", kind, d.ID, got.Type, got.EventID)
		}
	}

	for id := range receipts {
		if !known[id] {
			o.discrepancy("%s got %s, which is not in the list", kind, id)
		}
	}
	return nil
}

// auditCounts checks the number of events: one for each message sent or received, one for
// each status, and those of broadcasts.
func (o *tenantAudit) auditCounts(receipts map[string]*rig.Receipt) {
	events := make(map[string]map[string]bool) // distinct events by type, and by type and event id
	for _, one := range receipts {
		for _, key := range []string{one.Type, one.Type + " " + one.EventID} {
			if events[key] == nil {
				events[key] = make(map[string]bool)
			}
			events[key][one.Event] = true
		}
	}
	o.auditBroadcastEvents(len(events["broadcast.started"]), len(events["broadcast.completed"]))

	expect := func(kind, id string, want int) {
		if got := len(events[kind+" "+id]); got != want {
			o.discrepancy("%d events %s of %s, not %d", got, kind, id, want)
		}
	}

	for id, m := range o.rows {
		if m.Status == "failed" || m.isUnknown() {
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
