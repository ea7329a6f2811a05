package main

import (
	"encoding/json"
	"fmt"

	"confab/app/tools/rig"
	"confab/jobs/errorcode"
	"confab/storage/storageaudit"
)

// audit compares what the clients were told with what the server, the provider and the
// receivers have, and stops the server to look at its database.
func (t *trial) audit() (*report, error) {
	r := &report{length: t.length, faults: t.faults}

	seen, err := t.receiver.Findings()
	if err != nil {
		return nil, err
	}
	for fault, n := range seen.Faults {
		r.discrepancy("%d × %s", n, fault)
	}
	for _, left := range t.left {
		r.discrepancy("not at rest: %s", left)
	}
	for _, late := range t.late {
		r.discrepancy("waits for a time that a wrong clock showed: %s", late)
	}

	if err := t.auditConsoles(r); err != nil {
		return nil, err
	}
	for _, one := range t.tenants {
		if err := one.audit(r, seen); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
	}

	r.memory[0], r.memory[1] = t.health.memoryTrend()
	r.log = t.health.longestLog()

	if err := t.server.Stop(); err != nil {
		r.discrepancy("the server did not stop: %v", err)
	}

	found, err := storageaudit.Find(t.server.Dir)
	for _, one := range found {
		r.discrepancy(one.Rule+": %s", one.Where)
	}
	return r, err
}

// row is a message as the API shows it.
type row struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"`
	Direction string `json:"direction"`
	Source    string `json:"source"`
	Status    string `json:"status"`
	Type      string `json:"type"`
	Text      struct{ Body string }
	Error     struct {
		Code string `json:"code"`
	} `json:"error"`
}

// sourceBroadcast is the source of a message that a broadcast has made.
const sourceBroadcast = "broadcast"

// audit compares what a tenant was told with what the API lists.
func (o *tenant) audit(r *report, seen rig.Findings) error {
	rows := make(map[string]row) // by our id
	inbound, echoed := make(map[string]int), make(map[string]int)

	err := o.eachItem("/"+o.number+"/messages?limit=100", func(item json.RawMessage) error {
		var m row
		if err := json.Unmarshal(item, &m); err != nil {
			return err
		}
		switch {
		case m.Direction == "inbound":
			inbound[m.MessageID]++
		case m.Source == "app":
			echoed[m.MessageID]++
		default:
			rows[m.ID] = m
		}
		return o.checkOwnership(item)
	})
	if err != nil {
		return err
	}

	o.auditSends(r, rows)
	o.trial.auditTyped(r, o, rows)

	for id := range o.received {
		if inbound[id] != 1 {
			r.discrepancy("%s: inbound %s is there %d times", o.name, id, inbound[id])
		}
	}
	for id := range o.echoed {
		if echoed[id] != 1 {
			r.discrepancy("%s: echo %s is there %d times", o.name, id, echoed[id])
		}
	}

	if len(inbound) != len(o.received) || len(echoed) != len(o.echoed) {
		r.discrepancy("%s: %d inbound and %d echoes are there that nobody sent", o.name,
			len(inbound)-len(o.received), len(echoed)-len(o.echoed))
	}

	r.sent, r.received, r.reads = r.sent+len(o.sent), r.received+len(o.received)+len(o.echoed), r.reads+o.reads

	for _, check := range []func() error{
		func() error { return o.auditProvider(r, rows) },
		func() error { return o.auditEvents(r, rows, seen) },
		func() error { return o.auditMerges(r) },
		func() error { return o.auditRepeats(r) },
		func() error { return o.auditBroadcasts(r, rows) },
		func() error { return o.auditImports(r) },
		func() error { return o.auditSearch(r) },
		func() error { return o.auditStream(r, seen) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// auditRepeats repeats sends of the whole trial with their idempotency keys: each must be
// answered as the first time. A clock that was ahead must not have forgotten the answers.
func (o *tenant) auditRepeats(r *report) error {
	for _, send := range o.repeats {
		var made struct{ ID string }
		if err := o.callOK("POST", "/"+o.number+"/messages", send.body, send.key, &made); err != nil {
			return err
		}
		if made.ID != send.id {
			r.discrepancy("%s: %s was sent again as %s: its idempotency key was forgotten", o.name, send.id, made.ID)
		}
	}
	return nil
}

// auditSends compares the acknowledged sends with the messages that the API lists.
func (o *tenant) auditSends(r *report, rows map[string]row) {
	for _, why := range o.refused {
		r.discrepancy("%s: a message was refused: %s", o.name, why)
	}

	for id, kind := range o.sent {
		m, there := rows[id]
		switch {
		case !there:
			r.discrepancy("%s: acknowledged %s is lost", o.name, id)
		case m.Type != kind:
			r.discrepancy("%s: %s is a %s, not a %s", o.name, id, m.Type, kind)
		case o.cancelled[id] && (m.Status != "failed" || m.Error.Code != string(errorcode.MessageCancelled)):
			r.discrepancy("%s: %s was cancelled, and is %s", o.name, id, m.Status)
		case o.cancelled[id]:
		case m.Status == "failed":
			r.failures++
		case m.Status != finalStatus(m.Type):
			r.discrepancy("%s: %s is still %s", o.name, id, m.Status)
		}
	}

	for id, m := range rows {
		if _, known := o.sent[id]; !known && m.Source != sourceBroadcast && m.Source != sourceConsole {
			r.discrepancy("%s: nobody was told of %s", o.name, id)
		}
	}
}

// finalStatus returns the last status that a message of a type gets from the provider: a
// reaction is not delivered or read by itself.
func finalStatus(kind string) string {
	if kind == "reaction" {
		return "sent"
	}
	return "read"
}

// auditProvider compares the messages that the API lists with those that the provider
// has: every message must have reached it once, a failed one at most once.
func (o *tenant) auditProvider(r *report, rows map[string]row) error {
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			Status  string `json:"status"`
			Request struct {
				Tag string `json:"biz_opaque_callback_data"`
			} `json:"request"`
		} `json:"data"`
	}

	if err := o.trial.sim.Call("GET", "/_sim/messages?phone_number_id="+o.number, "", &list); err != nil {
		return err
	}

	copies := make(map[string]int)
	for _, m := range list.Data {
		copies[m.Request.Tag]++
		switch mine, ok := rows[m.Request.Tag]; {
		case !ok || mine.Status != "failed" && mine.MessageID != m.ID:
			r.discrepancy("%s: the provider has %s as %s, we have %q", o.name, m.Request.Tag, m.ID, mine.MessageID)
		case mine.Status == "failed":
			r.failuresThere++
		case mine.Status != m.Status:
			r.discrepancy("%s: the provider has %s as %s, we have it as %s", o.name, m.Request.Tag, m.Status, mine.Status)
		}
	}

	for id, m := range rows {
		isFailed := m.Status == "failed" && copies[id] <= 1 && !o.cancelled[id]
		if isFailed || o.cancelled[id] && copies[id] == 0 || copies[id] == 1 && !o.cancelled[id] {
			continue
		}
		r.discrepancy("%s: %s (%s) reached the provider %d times", o.name, id, m.Status, copies[id])
	}
	return nil
}
