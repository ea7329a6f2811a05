package main

import "maps"

// auditBroadcasts compares the recipients of each broadcast with those that it was made for,
// with their messages, and with its counts.
func (o *tenantAudit) auditBroadcasts() error {
	made := 0
	for _, b := range o.broadcasts {
		var now broadcastView
		if err := o.get("/"+o.number+"/broadcasts/"+b.id, &now); err != nil {
			return err
		}
		if !now.isOver() || now.Status == "cancelled" && !b.isCancelled {
			o.discrepancy("broadcast %s is %s", b.id, now.Status)
		}

		messages, counts, err := o.auditRecipients(b)
		if err != nil {
			return err
		}
		made += messages
		counts["total"] = len(b.to)
		for _, status := range []string{"waiting", "sent", "delivered", "read", "failed", "skipped"} {
			counts[status] += 0 // as the API shows those, too, that are none
		}
		if !maps.Equal(counts, now.Counts) {
			o.discrepancy("the counts of broadcast %s are %v, its recipients are %v", b.id, now.Counts, counts)
		}
		o.report.recipients += len(b.to)
	}

	listed := 0
	for _, m := range o.rows {
		if m.Source == sourceBroadcast {
			listed++
		}
	}
	if listed != made {
		o.discrepancy("%d messages are of broadcasts, and %d recipients have one", listed, made)
	}
	o.report.broadcasts += len(o.broadcasts)
	return nil
}

// auditRecipients looks at each recipient of a broadcast. It returns how many have a message,
// and how many are in each state.
func (o *tenantAudit) auditRecipients(b madeBroadcast) (messages int, counts map[string]int, err error) {
	type recipient struct {
		To        string  `json:"to"`
		Status    string  `json:"status"`
		MessageID *string `json:"message_id"`
	}
	all, err := list[recipient](o.client, "/"+o.number+"/broadcasts/"+b.id+"/recipients?limit=100")

	seen := make(map[string]bool)
	counts = make(map[string]int)
	for _, to := range all {
		counts[to.Status]++
		if seen[to.To] || !b.to[to.To] {
			o.discrepancy("%s is in broadcast %s twice, or was never meant", to.To, b.id)
		}
		seen[to.To] = true
		if to.MessageID == nil {
			continue
		}

		messages++
		m, there := o.rows[*to.MessageID]
		isSkipped := to.Status == "skipped" && m.Status == "failed"
		if !there || m.Source != sourceBroadcast || m.Status != to.Status && !isSkipped {
			o.discrepancy("%s is %s in broadcast %s, its message %s", to.To, to.Status, b.id, m.Status)
		}
	}
	if len(seen) != len(b.to) {
		o.discrepancy("broadcast %s has %d recipients, not %d", b.id, len(seen), len(b.to))
	}
	return messages, counts, err
}

// auditBroadcastEvents checks that each broadcast had one event of its start, and of its end.
func (o *tenantAudit) auditBroadcastEvents(started, completed int) {
	least := 0 // a cancel may have come too late
	for _, b := range o.broadcasts {
		if !b.isCancelled {
			least++
		}
	}
	if started != len(o.broadcasts) || completed < least || completed > len(o.broadcasts) {
		o.discrepancy("of %d broadcasts %d have an event of their start, and %d of their end", len(o.broadcasts), started, completed)
	}
}
