package main

import "fmt"

// The rules of every tenant, in their order. %s is a label. What the storage shows of them, each
// firing once and in its order, is audited there (see storageaudit); this is about what is lost.
var ruleBodies = []string{
	`{"name":"greets","on":"message_received","if":{"text":{"match":"contains","any":["hello"]}},"then":[{"reply":{"text":"Got it."}}]}`,
	`{"name":"labels","on":"message_received","then":[{"add_label":%q}],"once_per":"message"}`,
	`{"name":"opens","on":"conversation_opened","then":[{"note":"It has begun."}]}`,
	`{"name":"answers","on":"message_received","then":[{"reply":{"text":"Soon."}}],"once_per":"day"}`,
	`{"name":"ends","on":"message_received","then":[{"note":"Look at this."}],"once_per":"message","stop":true}`,
}

// perHour is how often a rule that fires for every message does so in a conversation, at least: a
// clock that was ahead allows more.
const perHour = 10

func (o *tenant) createRules() {
	for i, body := range ruleBodies {
		var made struct {
			ID      string
			OncePer string `json:"once_per"`
		}
		if i == 1 {
			body = fmt.Sprintf(body, o.label)
		}
		o.post("/rules", body, "", &made)
		if made.OncePer == "message" {
			o.rules = append(o.rules, made.ID)
		}
	}
}

// auditRules checks that no message of a person was forgotten by the rules that fire for each.
func (o *tenantAudit) auditRules() {
	for _, rule := range o.rules {
		fired := list[struct {
			ConversationID string `json:"conversation_id"`
		}](o.client, "/rules/"+rule+"/firings?limit=100")
		counts := make(map[string]int)
		for _, one := range fired {
			counts[one.ConversationID]++
		}
		for conversation, said := range o.heard {
			n := counts[conversation]
			o.expect(min(said, perHour) <= n && n <= said, "%s has fired for %d of the %d messages in %s", rule, n, said, conversation)
		}
		o.report.counts["rules fired for every message"] += len(fired)
	}
}
