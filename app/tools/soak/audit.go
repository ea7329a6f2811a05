package main

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"confab/app/tools/rig"
	"confab/jobs/errorcode"
	"confab/storage/storageaudit"
)

// audit compares what was acknowledged to the clients with what the server, the provider and the
// receivers have, and stops the server to look at its database.
func (t *trial) audit() {
	r := t.report
	r.length = t.length

	t.receiver.mu.Lock() // nothing is recorded any more
	defer t.receiver.mu.Unlock()
	for fault, n := range t.receiver.faults {
		r.discrepancy("%d × %s", n, fault)
	}

	t.auditConsoles(r)
	for _, one := range t.tenants {
		rig.Within(one.name, (&tenantAudit{tenant: one, report: r}).run)
	}
	t.auditStrangers(r)

	if err := rig.Catch(t.server.Stop); err != nil {
		r.discrepancy("the server did not stop: %v", err)
	}
	for _, one := range rig.Must(storageaudit.Find(t.server.Dir)) {
		r.discrepancy(one.Rule+": %s", one.Where)
	}
}

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
	Error     struct{ Code string }
}

// The sources of messages that no client of the API has sent, and no rule.
const (
	sourceBroadcast = "broadcast"
	sourceConsole   = "console"
	sourceGateway   = "gateway"
)

type tenantAudit struct {
	*tenant
	report *report
	rows   map[string]row      // messages that the server sent, by our id
	copies map[string][]string // what the provider has of them, by our id
	heard  map[string]int      // messages of people, reactions apart, by conversation
	taken  map[string]bool     // events that the steady endpoint took
}

func (o *tenantAudit) discrepancy(format string, args ...any) {
	o.report.discrepancy("%s: "+format, append([]any{o.name}, args...)...)
}

func (o *tenantAudit) expect(holds bool, otherwise string, args ...any) {
	if !holds {
		o.discrepancy(otherwise, args...)
	}
}

// run does all audits of the tenant. The first two read the messages for those after them.
func (o *tenantAudit) run() {
	o.auditMessages()
	o.auditProvider()
	o.auditGateway()
	o.auditEvents()
	o.auditRules()
	o.auditMerges()
	o.auditRepeats()
	o.auditBroadcasts()
	o.auditImports()
	o.auditStream()
}

// auditMessages compares what was acknowledged to a tenant with what the API lists.
func (o *tenantAudit) auditMessages() {
	o.rows, o.heard = make(map[string]row), make(map[string]int)
	inbound, echoed := make(map[string]int), make(map[string]int)
	for _, item := range list[json.RawMessage](o.client, "/"+o.number+"/messages?limit=100") {
		var m row
		rig.Check(json.Unmarshal(item, &m))
		o.checkOwnership(item)
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
		o.expect(inbound[id] == 1, "inbound %s is there %d times", id, inbound[id])
	}
	for id := range o.echoed {
		o.expect(echoed[id] == 1, "echo %s is there %d times", id, echoed[id])
	}

	o.expect(len(inbound) == len(o.received) && len(echoed) == len(o.echoed),
		"%d inbound and %d echoes are there that were never sent", len(inbound)-len(o.received), len(echoed)-len(o.echoed))

	o.report.counts["messages acknowledged"] += len(o.sent)
	o.report.counts["messages received"] += len(o.received) + len(o.echoed)
}

// auditRepeats repeats sends of the whole trial with their idempotency keys: each must be
// answered as the first time. A clock that was ahead must not have forgotten the answers. Texts must be
// found by what they say.
func (o *tenantAudit) auditRepeats() {
	for _, send := range o.repeats {
		id := o.create("/"+o.number+"/messages", send.body, send.key)
		o.expect(id == send.id, "%s was sent again as %s: its idempotency key was forgotten", send.id, id)
		if send.said == "" {
			continue
		}

		found := list[row](o.client, "/"+o.number+"/messages?limit=100&search="+url.QueryEscape(`"`+send.said+`"`))
		isFound := slices.ContainsFunc(found, func(m row) bool { return m.ID == send.id })
		o.expect(isFound, "%s is not found by %q", send.id, send.said)
	}
}

func (o *tenantAudit) auditSends() {
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
			o.report.counts["messages that failed in the end"]++
		case m.Status != finalStatus(m.Type):
			o.discrepancy("%s is still %s", id, m.Status)
		}
	}

	for id, m := range o.rows {
		_, isKnown := o.sent[id]
		o.expect(isKnown || m.Source != "api", "%s was never acknowledged", id) // others have an audit of their own
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

type providedMessage struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Request struct {
		Tag string `json:"biz_opaque_callback_data"`
	} `json:"request"`
}

func (o *tenant) providerHas(query string) []providedMessage {
	var list struct{ Data []providedMessage }
	o.trial.sim.Call("GET", "/_sim/messages?"+query, "", &list)
	return list.Data
}

// auditProvider compares the messages that the API lists with those that the provider
// has: every message must have reached it once, a failed one at most once.
func (o *tenantAudit) auditProvider() {
	o.copies = make(map[string][]string)
	for _, m := range o.providerHas("phone_number_id=" + o.number) {
		o.copies[m.Request.Tag] = append(o.copies[m.Request.Tag], m.ID)
		switch mine, ok := o.rows[m.Request.Tag]; {
		case !ok || mine.Status != "failed" && mine.MessageID != m.ID:
			o.discrepancy("the provider has %s as %s, we have %q", m.Request.Tag, m.ID, mine.MessageID)
		case mine.Status != "failed" && mine.Status != m.Status:
			o.discrepancy("the provider has %s as %s, we have it as %s", m.Request.Tag, m.Status, mine.Status)
		}
	}

	for id, m := range o.rows {
		copies := len(o.copies[id])
		isRight := copies == 1 || m.Status == "failed" && copies == 0
		if o.cancelled[id] {
			isRight = copies == 0
		}
		o.expect(isRight || m.Source == sourceGateway, "%s (%s) reached the provider %d times", id, m.Status, copies)
	}
}

type delivery struct {
	ID        string `json:"id"`
	EventType string `json:"event_type"`
	EventID   string `json:"event_id"`
	Status    string `json:"status"`
}

// auditEvents compares what happened with what the endpoints received: each endpoint
// that was subscribed during the whole trial must have accepted every event.
func (o *tenantAudit) auditEvents() {
	seen := o.trial.receiver
	taken := make(map[string]map[string]bool) // events by endpoint
	for _, kind := range lastingHooks {
		endpoint := o.endpointName(kind)
		taken[kind] = make(map[string]bool)
		for _, one := range seen.receipts[endpoint] {
			if one.isTaken {
				taken[kind][one.event] = true
			}
		}

		o.auditDeliveries(kind, seen.receipts[endpoint])
		numbers := seen.numbers[endpoint]
		o.expect(len(numbers) == 1 && numbers[o.number], "%s got events of numbers %v, not of %s alone", kind, numbers, o.number)
	}

	o.taken = taken[hookSteady]
	for kind, events := range taken {
		o.expect(maps.Equal(events, o.taken), "%s took %d events and %s took %d", kind, len(events), hookSteady, len(o.taken))
	}
	o.auditCounts(seen.receipts[o.endpointName(hookSteady)])
	o.report.counts["events"] += len(o.taken)
}

func (o *tenantAudit) auditDeliveries(kind string, receipts map[string]*receipt) {
	known := make(map[string]bool)
	for _, d := range list[delivery](o.client, "/webhook_deliveries?limit=100&subscription_id="+o.hooks[kind]) {
		known[d.ID] = true
		got := receipts[d.ID]
		switch {
		case d.Status == "succeeded" && (got == nil || !got.isTaken):
			o.discrepancy("%s says %s succeeded, but it never came", kind, d.ID)
		case d.Status == "pending" || d.Status == "failed":
			o.discrepancy("%s is left with %s %s", kind, d.Status, d.ID)
		case got != nil && (got.eventID != d.EventID || got.kind != d.EventType):
			o.discrepancy("%s got %s as %s of %s", kind, d.ID, got.kind, got.eventID)
		}
	}

	for id := range receipts {
		o.expect(known[id], "%s got %s, which is not in the list", kind, id)
	}
}

// auditCounts checks the number of events: one for each message sent or received, one for
// each status, and those of broadcasts.
func (o *tenantAudit) auditCounts(receipts map[string]*receipt) {
	events := make(map[string]map[string]bool) // distinct events by type, and by type and event id
	for _, one := range receipts {
		for _, key := range []string{one.kind, one.kind + " " + one.eventID} {
			if events[key] == nil {
				events[key] = make(map[string]bool)
			}
			events[key][one.event] = true
		}
	}
	o.auditBroadcastEvents(len(events["broadcast.started"]), len(events["broadcast.completed"]))

	expect := func(kind, id string, want int) {
		got := len(events[kind+" "+id])
		o.expect(got == want, "%d events %s of %s, not %d", got, kind, id, want)
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
