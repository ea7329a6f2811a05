package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// TraceView is a message's life on one line of time, in the console and on the command line.
type TraceView struct {
	ID             string            `json:"id"` // the message's
	Object         string            `json:"object"`
	Direction      string            `json:"direction"`
	Type           string            `json:"type"`
	Source         string            `json:"source"`
	Status         string            `json:"status"`
	Preview        *string           `json:"preview"`
	MessageID      *string           `json:"message_id"` // the provider's
	PhoneNumberID  *string           `json:"phone_number_id"`
	ConversationID string            `json:"conversation_id"`
	Contact        tracedPersonView  `json:"contact"`
	SentBy         *callerView       `json:"sent_by"`   // who of the team sent it in the console
	Broadcast      *TracedBroadcast  `json:"broadcast"` // which made it, while it is there
	Pricing        *provider.Pricing `json:"pricing"`   // nil until the provider has told it
	RequestID      *string           `json:"request_id"`
	CreatedAt      storage.Time      `json:"created_at"`
	Entries        []TraceEntry      `json:"entries"`
	LeftOut        int               `json:"left_out"` // entries that are not shown
	Complete       bool              `json:"complete"` // false: there was no time to look through all events
}

// TracedBroadcast is the broadcast that made a message.
type TracedBroadcast struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// tracedPersonView is the person that a message is from or to.
type tracedPersonView struct {
	ID          string  `json:"id"`
	Name        *string `json:"name"`
	PhoneNumber *string `json:"phone_number"`
	BSUID       *string `json:"bsuid"`
}

// Kinds of entries.
const (
	TracePerson   = "person"   // somebody wrote the message, on a phone
	TraceCall     = "call"     // a call of the API made it
	TraceStored   = "stored"   // it was stored
	TraceTry      = "try"      // a try at the provider failed
	TraceAccepted = "accepted" // a try at the provider succeeded
	TraceCallback = "callback" // the provider reported a status
	TraceFailed   = "failed"   // it failed for good
	TraceEvent    = "event"    // an event was stored
	TraceDelivery = "delivery" // one of its deliveries has not been tried, or never was
	TraceAttempt  = "attempt"  // one of its deliveries was tried
	TraceRule     = "rule"     // a rule was asked about it
)

// TraceEntry is something that happened to a message. What it has beside a time depends on
// its kind.
type TraceEntry struct {
	Kind     string              `json:"kind"`
	At       storage.Time        `json:"at"`
	GapMS    *int64              `json:"gap_ms"` // since the entry before it
	Failed   bool                `json:"failed"`
	Call     *loggedCallView     `json:"call,omitempty"` // none while it is not in the log, or no more
	Try      *tracedTryView      `json:"try,omitempty"`
	Status   *tracedStatusView   `json:"status,omitempty"`
	Event    *tracedEventView    `json:"event,omitempty"`
	Delivery *tracedDeliveryView `json:"delivery,omitempty"`
	Rule     *jobs.RuleTrace     `json:"rule,omitempty"`
	Body     *string             `json:"body,omitempty"` // as it was sent or received
	// BodyLeftOut says that there is a body, too much of it to be shown here.
	BodyLeftOut bool `json:"body_left_out,omitempty"`
}

// tracedTryView is a try at the provider.
type tracedTryView struct {
	Try        int     `json:"try"`
	DurationMS *int64  `json:"duration_ms"`
	HTTPStatus *int    `json:"http_status"`
	Code       *int    `json:"code"`
	Reason     *string `json:"reason"`
	MessageID  *string `json:"message_id"` // the provider's, of one that succeeded
}

// tracedStatusView is a change of the message's status, or a report that changed nothing.
type tracedStatusView struct {
	From       string           `json:"from"`
	To         string           `json:"to"`
	Reported   string           `json:"reported"`
	ProviderAt storage.Time     `json:"provider_at"` // when it happened, as the provider says; whole seconds
	Error      *tracedErrorView `json:"error"`
}

// tracedErrorView is why a message failed: the provider's code, or ours.
type tracedErrorView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// tracedEventView is an event about the message.
type tracedEventView struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Deliveries int    `json:"deliveries"`
}

// tracedDeliveryView is a delivery of such an event, and one attempt of it.
type tracedDeliveryView struct {
	ID             string       `json:"id"`
	SubscriptionID string       `json:"subscription_id"`
	EventType      string       `json:"event_type"`
	URL            string       `json:"url"`
	Description    *string      `json:"description"`
	WebhookStatus  string       `json:"webhook_status"` // the endpoint's: active, paused or disabled
	Status         string       `json:"status"`         // the delivery's, whatever the attempt
	ReplayedFrom   *string      `json:"replayed_from"`
	Attempt        int          `json:"attempt"` // 0: not tried
	IsLast         bool         `json:"is_last"`
	ResponseStatus *int         `json:"response_status"`
	DurationMS     *int64       `json:"duration_ms"`
	ErrorCode      *string      `json:"error_code"`
	ErrorMessage   *string      `json:"error_message"`
	NextAttemptAt  storage.Time `json:"next_attempt_at"`
}

const (
	maxTracedEvents     = 200
	maxTracedDeliveries = 200
	maxTraceEntries     = 500
	// maxTraceBytes is how much is read of events, and maxTraceBodies how much of all
	// bodies is shown.
	maxTraceBytes, maxTraceBodies = 4 << 20, 512 << 10
	// maxTracePreview is in characters.
	maxTracePreview = 200
)

// getTrace handles GET /console/api/trace/:id, by the id of a message or of an event about
// one.
func (s *Server) getTrace(r *rest.Request) (rest.Reply, error) {
	id := r.Param("id")
	if !IsTraceable(id) {
		return rest.Reply{}, rest.NotFound()
	}
	if err := s.APILog.Flush(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}

	view, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) (TraceView, error) { return ReadTrace(rx, r.Org.ID, id) })
	return rest.OK(view), err
}

// IsTraceable reports whether an id is one of those that lead to a message.
func IsTraceable(id string) bool {
	return storage.ValidID(storage.PrefixMessage, id) || storage.ValidID(storage.PrefixEvent, id)
}

// ReadTrace puts together the trace of an organization's message, or with 0 of anybody's.
func ReadTrace(rx *storage.Rx, organization int64, id string) (TraceView, error) {
	m, organization, err := rx.TracedMessage(organization, id)
	if err != nil {
		return TraceView{}, err
	}

	words, err := rx.MessageWords(m)
	if err != nil {
		return TraceView{}, err
	}

	t := &tracer{rx: rx, organization: organization, message: m, words: words, status: storage.MessageQueued, bodies: maxTraceBodies}
	for _, step := range []func() error{t.addOrigin, t.addTries, t.addRules, t.addEvents} {
		if err := step(); err != nil {
			return TraceView{}, err
		}
	}
	return t.view(), nil
}

// view is the trace, with its entries in the order of time. Those of one instant stay in
// the order in which they were added, which is that of cause and effect.
func (t *tracer) view() TraceView {
	slices.SortStableFunc(t.entries, func(a, b TraceEntry) int { return cmp.Compare(a.At, b.At) })
	if n := len(t.entries); n > maxTraceEntries {
		t.leftOut += n - maxTraceEntries
		t.entries = t.entries[:maxTraceEntries]
	}
	for i := 1; i < len(t.entries); i++ {
		gap := int64(t.entries[i].At - t.entries[i-1].At)
		t.entries[i].GapMS = &gap
	}

	m := t.message
	var price *provider.Pricing
	if p, ok := provider.ReadPricing(json.RawMessage(m.Pricing)); ok {
		price = &p
	}
	return TraceView{
		ID: m.ID, Object: "trace", Direction: m.Direction, Type: m.Type, Source: m.Source, Status: m.Status,
		Preview: tracePreview(t.words), MessageID: m.ProviderID, PhoneNumberID: m.AccountNumberID, ConversationID: m.ConversationID,
		Contact: tracedPersonView{ID: m.ContactID, Name: m.ContactName, PhoneNumber: m.To(), BSUID: m.ContactBSUID},
		SentBy:  t.sentBy, Broadcast: t.broadcast, RequestID: m.RequestID, CreatedAt: m.CreatedAt,
		Pricing: price, Entries: t.entries, LeftOut: t.leftOut, Complete: !t.cut,
	}
}

// tracePreview is the beginning of what a message says.
func tracePreview(words *string) *string {
	if words == nil {
		return nil
	}
	return new(shorten(strings.ToValidUTF8(*words, ""), maxTracePreview))
}

// shorten cuts a text off after so many characters.
func shorten(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}
