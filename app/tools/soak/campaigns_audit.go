package main

import (
	"encoding/json"
	"maps"

	"confab/app/tools/rig"
)

// auditBroadcasts compares the recipients of each broadcast with those that it was made for,
// with their messages, and with its counts.
func (o *tenant) auditBroadcasts(r *report, rows map[string]row) error {
	made := 0
	for _, b := range o.broadcasts {
		var now broadcastView
		if err := o.callOK("GET", "/"+o.number+"/broadcasts/"+b.id, "", "", &now); err != nil {
			return err
		}
		if !now.isOver() || now.Status == "cancelled" && !b.isCancelled {
			r.discrepancy("%s: broadcast %s is %s", o.name, b.id, now.Status)
		}

		messages, counts, err := o.auditRecipients(r, b, rows)
		if err != nil {
			return err
		}
		made += messages
		counts["total"] = len(b.to)
		for _, status := range []string{"waiting", "sent", "delivered", "read", "failed", "skipped"} {
			counts[status] += 0 // as the API shows those, too, that are none
		}
		if !maps.Equal(counts, now.Counts) {
			r.discrepancy("%s: the counts of broadcast %s are %v, its recipients are %v", o.name, b.id, now.Counts, counts)
		}
		r.recipients += len(b.to)
	}

	listed := 0
	for _, m := range rows {
		if m.Source == sourceBroadcast {
			listed++
		}
	}
	if listed != made {
		r.discrepancy("%s: %d messages are of broadcasts, and %d recipients have one", o.name, listed, made)
	}
	r.broadcasts += len(o.broadcasts)
	return nil
}

// auditRecipients looks at each recipient of a broadcast. It returns how many have a message,
// and how many are in each state.
func (o *tenant) auditRecipients(r *report, b madeBroadcast, rows map[string]row) (messages int, counts map[string]int, err error) {
	seen := make(map[string]bool)
	counts = make(map[string]int)
	err = o.eachItem("/"+o.number+"/broadcasts/"+b.id+"/recipients?limit=100", func(item json.RawMessage) error {
		var to struct {
			To        string  `json:"to"`
			Status    string  `json:"status"`
			MessageID *string `json:"message_id"`
		}
		if err := json.Unmarshal(item, &to); err != nil {
			return err
		}

		counts[to.Status]++
		if seen[to.To] || !b.to[to.To] {
			r.discrepancy("%s: %s is in broadcast %s twice, or was never meant", o.name, to.To, b.id)
		}
		seen[to.To] = true
		if to.MessageID == nil {
			return nil
		}

		messages++
		m, there := rows[*to.MessageID]
		isSkipped := to.Status == "skipped" && m.Status == "failed"
		if !there || m.Source != sourceBroadcast || m.Status != to.Status && !isSkipped {
			r.discrepancy("%s: %s is %s in broadcast %s, its message %s", o.name, to.To, to.Status, b.id, m.Status)
		}
		return nil
	})
	if len(seen) != len(b.to) {
		r.discrepancy("%s: broadcast %s has %d recipients, not %d", o.name, b.id, len(seen), len(b.to))
	}
	return messages, counts, err
}

// auditBroadcastEvents checks that the start of each broadcast was told once, and its end.
func (o *tenant) auditBroadcastEvents(r *report, receipts map[string]*rig.Receipt) {
	told := make(map[string]map[string]bool)
	for _, one := range receipts {
		if told[one.Type] == nil {
			told[one.Type] = make(map[string]bool)
		}
		told[one.Type][one.Event] = true
	}

	started, completed := len(told["broadcast.started"]), len(told["broadcast.completed"])
	least := 0 // a cancel may have come too late
	for _, b := range o.broadcasts {
		if !b.isCancelled {
			least++
		}
	}
	if started != len(o.broadcasts) || completed < least || completed > len(o.broadcasts) {
		r.discrepancy("%s: of %d broadcasts %d were told to have started, and %d to be completed", o.name,
			len(o.broadcasts), started, completed)
	}
}
