package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/errorcode"
)

// Some clients send through the gateway, in the provider's own words. They are not repeated by the
// server, so that each client knows from its answer whether the provider has the message, or that
// only callbacks will tell. A client that got no answer asks again under its Idempotency-Key.

const (
	// gatewaySenders is how many clients of a tenant send through the gateway.
	gatewaySenders = 4
	// hookNative is the endpoint that gets the provider's own envelopes.
	hookNative = "native"
	// nativeSecret signs them.
	nativeSecret = "a secret that a client has kept"
)

type gatewaySend struct {
	tag    string // what it says, by which it is known to all sides; its key, too
	body   string
	answer gatewayAnswer
}

type gatewayAnswer struct {
	status   int
	Messages []struct{ ID string }
	Error    struct {
		Data struct{ Details string } `json:"error_data"`
	}
}

// The kinds of answers.
const (
	answeredID       = "the provider's id"
	answeredUnknown  = "unknown, 504"
	answeredNotSent  = "cancelled, or refused by the provider"
	answeredRefused  = "refused by us"
	answeredNotReady = "not ready"
)

// kind says what an answer means. Refusals of ours begin their details with a code of ours.
func (a gatewayAnswer) kind() string {
	ours, _, _ := strings.Cut(a.Error.Data.Details, ":")
	switch {
	case a.status == 200 && len(a.Messages) == 1:
		return answeredID
	case a.status == 504 && ours == "upstream_timeout":
		return answeredUnknown
	case ours == "service_unavailable" || ours == "idempotency_in_progress":
		return answeredNotReady
	case ours == string(errorcode.MessageCancelled) || a.status == 503 || !ourCode.MatchString(ours):
		return answeredNotSent
	}
	return answeredRefused + ", " + ours
}

var ourCode = regexp.MustCompile(`^[a-z_]+$`)

func (o *tenant) subscribeNative() {
	endpoint := o.endpointName(hookNative)
	o.trial.receiver.addEndpoint(endpoint, nativeSecret)
	body := fmt.Sprintf(`{"url":%q,"events":["messages"],"format":"provider","verify_token":"any","secret":%q}`,
		o.trial.receiver.endpoint(endpoint), nativeSecret)
	o.hooks[hookNative] = o.create("/webhook_subscriptions", body, "")
}

func (o *tenant) sendThroughGateway(ctx context.Context) {
	for o.outboundLimit.Wait(ctx) == nil {
		s := gatewaySend{tag: fmt.Sprintf("gateway %016x", rand.Uint64())}
		s.body = fmt.Sprintf(`{"messaging_product":"whatsapp","to":%q,"type":"text","text":{"body":%q},"biz_opaque_callback_data":%q}`,
			o.person(), s.tag, s.tag)

		s.answer = o.pass(s)
		o.record(func() { o.passed = append(o.passed, s) })
		o.trial.count("through the gateway: " + s.answer.kind())
	}
}

// pass sends a message through the gateway until it is answered. A server that is only killed may
// never live for as long as a client waits.
func (o *tenant) pass(s gatewaySend) (a gatewayAnswer) {
	patience := answerTime
	if o.trial.kills > 0 {
		patience += o.trial.length
	}

	graph := rig.Client{Base: o.trial.server.URL() + "/graph", Key: o.Key, Timeout: 30 * time.Second}
	repeatUntil(graph, rig.Request{
		Method: "POST", Path: "/" + o.number + "/messages", Body: s.body, IdempotencyKey: s.tag, ContentType: "application/json",
	}, patience, func(status int, text []byte) bool {
		a = gatewayAnswer{status: status}
		return json.Unmarshal(text, &a) == nil && a.kind() != answeredNotReady
	})
	return a
}

// isUnknown reports whether only a callback can tell what became of a message, if one ever comes.
func (m row) isUnknown() bool { return m.Source == sourceGateway && m.Status == "pending" }

// isNowhere reports whether no callback will come of a message, because the provider does not have it.
func (o *tenant) isNowhere(m row) bool {
	return m.isUnknown() && !slices.ContainsFunc(o.providerHas("to="+url.QueryEscape(m.To)),
		func(one providedMessage) bool { return one.Request.Tag == m.ID })
}

type gatewayOutcome struct {
	rows     []row         // those that say what it says
	copies   []string      // ids of those that the provider has
	statuses []string      // what native webhooks told
	again    gatewayAnswer // to the same request, in the end
}

// auditGateway compares what the clients of the gateway were told with what became of their messages.
func (o *tenantAudit) auditGateway() {
	rows := make(map[string][]row)
	for _, m := range o.rows {
		if m.Source == sourceGateway {
			rows[m.Text.Body] = append(rows[m.Text.Body], m)
		}
	}

	for _, s := range o.passed {
		became := gatewayOutcome{rows: rows[s.tag], statuses: o.trial.receiver.statuses[s.tag], again: o.pass(s)}
		for _, m := range became.rows {
			became.copies = append(became.copies, o.copies[m.ID]...)
		}
		wrong := s.contradiction(became)
		o.expect(wrong == "", "%s, whose client was told %s: %s", s.tag, s.answer.kind(), wrong)
		delete(rows, s.tag)
	}
	for tag := range rows {
		o.discrepancy("%s was never answered by the gateway", tag)
	}
	o.report.counts["through the gateway"] += len(o.passed)
}

// contradiction says how what became of a message contradicts what its client was told, "" if it
// does not: the provider has it once if the client has its id, perhaps if it was told that this is
// unknown, and otherwise not at all. What the provider has, native webhooks and a repeat of the
// request tell.
func (s gatewaySend) contradiction(became gatewayOutcome) string {
	if strings.HasPrefix(s.answer.kind(), answeredRefused) {
		return s.answer.Error.Data.Details
	}
	if len(became.rows) != 1 {
		return fmt.Sprintf("it is stored %d times", len(became.rows))
	}
	m, told, again := became.rows[0], s.answer.kind(), became.again
	if len(became.copies) == 0 {
		switch {
		case told == answeredID:
			return "the provider does not have it"
		case m.Status != "failed" && (told != answeredUnknown || !m.isUnknown()):
			return "the provider does not have it, and it is " + m.Status
		case again.kind() != told:
			return "a repeat was answered otherwise: " + again.kind()
		}
		return ""
	}

	id := became.copies[0]
	switch {
	case len(became.copies) > 1:
		return fmt.Sprintf("the provider has it %d times", len(became.copies))
	case told != answeredID && told != answeredUnknown:
		return "the provider has it"
	case told == answeredID && s.answer.Messages[0].ID != id:
		return "the provider has it as " + id
	case m.MessageID != id || m.Status != finalStatus(m.Type):
		return fmt.Sprintf("the provider has it as %s, and we have it as %s, %s", id, m.MessageID, m.Status)
	case again.kind() != answeredID || again.Messages[0].ID != id:
		return "a repeat was not answered with the id, but: " + again.kind()
	}
	for _, status := range []string{"sent", "delivered", "read"} {
		if !slices.Contains(became.statuses, status) {
			return "its client was not told that it is " + status
		}
	}
	return ""
}
