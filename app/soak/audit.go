package main

import (
	"context"
	"encoding/json"
	"fmt"

	"confab/storage"
)

// audit compares what the clients were told with what the server, the provider and the
// receivers have, and stops the server to look at its database.
func (t *trial) audit() (*report, error) {
	r := &report{length: t.length, faults: t.faults}

	seen, err := t.receiver.findings()
	if err != nil {
		return nil, err
	}
	for fault, n := range seen.Faults {
		r.discrepancy("%d × %s", n, fault)
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
	return r, t.auditDatabase(r)
}

// auditDatabase checks the database that the server left behind.
func (t *trial) auditDatabase(r *report) error {
	key, err := storage.LoadMasterKey(t.server.Dir, "")
	if err != nil {
		return err
	}

	db, err := storage.Open(storage.Options{Path: storage.DatabaseFile(t.server.Dir), Schema: t.schema, MasterKey: key})
	if err != nil {
		r.discrepancy("the database: %v", err)
		return nil
	}
	defer db.Close()

	return db.View(context.Background(), func(rx *storage.Rx) error {
		failed, err := rx.Jobs(storage.JobFilter{State: "failed", Limit: 100})
		for _, job := range failed {
			r.discrepancy("job %d, %s, gave up: %v", job.ID, job.Kind, job.LastError)
		}
		return err
	})
}

// row is a message as the API shows it.
type row struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"`
	Direction string `json:"direction"`
	Source    string `json:"source"`
	Status    string `json:"status"`
	Type      string `json:"type"`
}

// audit compares what a tenant was told with what the API lists.
func (o *tenant) audit(r *report, seen findings) error {
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

	if err := o.auditProvider(r, rows); err != nil {
		return err
	}
	return o.auditEvents(r, rows, seen)
}

// auditSends compares the acknowledged sends with the messages that the API lists.
func (o *tenant) auditSends(r *report, rows map[string]row) {
	for id, kind := range o.sent {
		m, there := rows[id]
		switch {
		case !there:
			r.discrepancy("%s: acknowledged %s is lost", o.name, id)
		case m.Type != kind:
			r.discrepancy("%s: %s is a %s, not a %s", o.name, id, m.Type, kind)
		case m.Status == "failed":
			r.failures++
		case m.Status != finalStatus(m.Type):
			r.discrepancy("%s: %s is still %s", o.name, id, m.Status)
		}
	}

	for id := range rows {
		if _, known := o.sent[id]; !known {
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
		if mine, ok := rows[m.Request.Tag]; !ok || mine.Status != "failed" && mine.MessageID != m.ID {
			r.discrepancy("%s: the provider has %s as %s, we have %q", o.name, m.Request.Tag, m.ID, mine.MessageID)
		}
	}

	for id, m := range rows {
		if want := 1; m.Status == "failed" && copies[id] == 0 || copies[id] == want {
			continue
		}
		r.discrepancy("%s: %s (%s) reached the provider %d times", o.name, id, m.Status, copies[id])
	}
	return nil
}
