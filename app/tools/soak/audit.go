package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"confab/app/tools/rig"
	"confab/jobs/errorcode"
	"confab/storage/storageaudit"
)

// audit compares what was acknowledged to the clients with what the server, the provider and the
// receivers have, and stops the server to look at its database.
func (t *trial) audit() (*report, error) {
	r := t.report
	r.length = t.length

	seen, err := t.receiver.Findings()
	if err != nil {
		return nil, err
	}
	for fault, n := range seen.Faults {
		r.discrepancy("%d × %s", n, fault)
	}

	if err := t.auditConsoles(r); err != nil {
		return nil, err
	}
	for _, one := range t.tenants {
		if err := (&tenantAudit{tenant: one, report: r, seen: seen}).run(); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
	}

	t.auditStrangers(r)
	r.memory, r.log = t.health.summarize()

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
	Thread    string `json:"conversation_id"`
	Source    string `json:"source"`
	Status    string `json:"status"`
	Type      string `json:"type"`
	To        string `json:"to"`
	Text      struct{ Body string }
	Error     struct {
		Code string `json:"code"`
	} `json:"error"`
}

// sourceBroadcast is the source of a message that a broadcast has made.
const sourceBroadcast = "broadcast"

// otherSources are those of messages with an audit of their own.
var otherSources = []string{sourceBroadcast, sourceConsole, sourceGateway, sourceRule}

// tenantAudit is the audit of one tenant.
type tenantAudit struct {
	*tenant
	report *report
	seen   rig.Findings
	rows   map[string]row      // messages that the server sent, by our id
	copies map[string][]string // what the provider has of them, by our id
	heard  map[string]int      // messages of people, reactions apart, by conversation
	taken  map[string]bool     // events that the steady endpoint took
}

// discrepancy records a discrepancy of the tenant.
func (o *tenantAudit) discrepancy(format string, args ...any) {
	o.report.discrepancy("%s: "+format, append([]any{o.name}, args...)...)
}

// run does all audits of the tenant. The first reads the messages for those after it.
func (o *tenantAudit) run() error {
	for _, audit := range []func(*tenantAudit) error{
		(*tenantAudit).auditMessages,
		(*tenantAudit).auditProvider,
		(*tenantAudit).auditGateway,
		(*tenantAudit).auditEvents,
		(*tenantAudit).auditRules,
		(*tenantAudit).auditMerges,
		(*tenantAudit).auditRepeats,
		(*tenantAudit).auditBroadcasts,
		(*tenantAudit).auditImports,
		(*tenantAudit).auditSearch,
		(*tenantAudit).auditStream,
	} {
		if err := audit(o); err != nil {
			return err
		}
	}
	return nil
}

// auditMessages compares what was acknowledged to a tenant with what the API lists.
func (o *tenantAudit) auditMessages() error {
	items, err := list[json.RawMessage](o.client, "/"+o.number+"/messages?limit=100")
	if err != nil {
		return err
	}

	o.rows, o.heard = make(map[string]row), make(map[string]int)
	inbound, echoed := make(map[string]int), make(map[string]int)
	for _, item := range items {
		var m row
		if err := errors.Join(json.Unmarshal(item, &m), o.checkOwnership(item)); err != nil {
			return err
		}
		switch {
		case m.Direction == "inbound":
			inbound[m.MessageID]++
			if m.Type != "reaction" {
				o.heard[m.Thread]++
			}
		case m.Source == "app":
			echoed[m.MessageID]++
		default:
			o.rows[m.ID] = m
		}
	}

	o.auditSends()
	o.auditTyped()

	for id := range o.received {
		if inbound[id] != 1 {
			o.discrepancy("inbound %s is there %d times", id, inbound[id])
		}
	}
	for id := range o.echoed {
		if echoed[id] != 1 {
			o.discrepancy("echo %s is there %d times", id, echoed[id])
		}
	}

	if len(inbound) != len(o.received) || len(echoed) != len(o.echoed) {
		o.discrepancy("%d inbound and %d echoes are there that were never sent",
			len(inbound)-len(o.received), len(echoed)-len(o.echoed))
	}

	o.report.sent += len(o.sent)
	o.report.received += len(o.received) + len(o.echoed)
	return nil
}

// auditRepeats repeats sends of the whole trial with their idempotency keys: each must be
// answered as the first time. A clock that was ahead must not have forgotten the answers.
func (o *tenantAudit) auditRepeats() error {
	for _, send := range o.repeats {
		var made struct{ ID string }
		if err := o.post("/"+o.number+"/messages", send.body, send.key, &made); err != nil {
			return err
		}
		if made.ID != send.id {
			o.discrepancy("%s was sent again as %s: its idempotency key was forgotten", send.id, made.ID)
		}
	}
	return nil
}

// auditSends compares the acknowledged sends with the messages that the API lists.
func (o *tenantAudit) auditSends() {
	for _, why := range o.refused {
		o.discrepancy("a message was refused: %s", why)
	}

	for id, kind := range o.sent {
		m, there := o.rows[id]
		switch {
		case !there:
			o.discrepancy("acknowledged %s is lost", id)
		case m.Type != kind:
			o.discrepancy("%s is a %s, not a %s", id, m.Type, kind)
		case o.cancelled[id] && (m.Status != "failed" || m.Error.Code != string(errorcode.MessageCancelled)):
			o.discrepancy("%s was cancelled, and is %s", id, m.Status)
		case o.cancelled[id]:
		case m.Status == "failed":
			o.report.failures++
		case m.Status != finalStatus(m.Type):
			o.discrepancy("%s is still %s", id, m.Status)
		}
	}

	for id, m := range o.rows {
		if _, known := o.sent[id]; !known && !slices.Contains(otherSources, m.Source) {
			o.discrepancy("%s was never acknowledged", id)
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

// providedMessage is a message that the provider has.
type providedMessage struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Request struct {
		Tag string `json:"biz_opaque_callback_data"`
	} `json:"request"`
}

// providerHas returns the messages that the provider has, of those that a query asks for.
func (o *tenant) providerHas(query string) ([]providedMessage, error) {
	var list struct {
		Data []providedMessage `json:"data"`
	}
	err := o.trial.sim.Call("GET", "/_sim/messages?"+query, "", &list)
	return list.Data, err
}

// auditProvider compares the messages that the API lists with those that the provider
// has: every message must have reached it once, a failed one at most once.
func (o *tenantAudit) auditProvider() error {
	all, err := o.providerHas("phone_number_id=" + o.number)
	if err != nil {
		return err
	}

	o.copies = make(map[string][]string)
	for _, m := range all {
		o.copies[m.Request.Tag] = append(o.copies[m.Request.Tag], m.ID)
		switch mine, ok := o.rows[m.Request.Tag]; {
		case !ok || mine.Status != "failed" && mine.MessageID != m.ID:
			o.discrepancy("the provider has %s as %s, we have %q", m.Request.Tag, m.ID, mine.MessageID)
		case mine.Status == "failed":
			o.report.failuresThere++
		case mine.Status != m.Status:
			o.discrepancy("the provider has %s as %s, we have it as %s", m.Request.Tag, m.Status, mine.Status)
		}
	}

	for id, m := range o.rows {
		copies := len(o.copies[id])
		isFailed := m.Status == "failed" && copies <= 1 && !o.cancelled[id]
		if isFailed || o.cancelled[id] && copies == 0 || copies == 1 && !o.cancelled[id] || m.Source == sourceGateway {
			continue
		}
		o.discrepancy("%s (%s) reached the provider %d times", id, m.Status, copies)
	}
	return nil
}

// spokenText is a message that must be found by what it says.
type spokenText struct{ id, text string }

// keepEvery is how many texts are sent for each that the audit searches for.
const keepEvery = 40

// auditSearch searches for texts of the whole trial.
func (o *tenantAudit) auditSearch() error {
	for _, said := range o.said {
		found, err := list[row](o.client, "/"+o.number+"/messages?limit=100&search="+url.QueryEscape(`"`+said.text+`"`))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, func(m row) bool { return m.ID == said.id }) {
			o.discrepancy("%s is not found by %q", said.id, said.text)
		}
	}
	return nil
}
