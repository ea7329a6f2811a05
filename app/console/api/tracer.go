package api

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// tracer collects the entries of a trace.
type tracer struct {
	rx           *storage.Rx
	organization int64
	message      storage.Message
	words        *string // what it says in short
	sentBy       *callerView
	broadcast    *TracedBroadcast

	status  string // after the entries so far
	tries   int
	bodies  int // bytes that are left for them
	entries []TraceEntry
	leftOut int
	cut     bool
}

// add adds an entry, with its body if there is one and it still fits.
func (t *tracer) add(e TraceEntry, body string) {
	if body != "" {
		e.BodyLeftOut = len(body) > t.bodies
		if !e.BodyLeftOut {
			t.bodies -= len(body)
			e.Body = &body
		}
	}
	t.entries = append(t.entries, e)
}

// addOrigin adds how the message came to be: the call or the person that made it, and that
// it was stored.
func (t *tracer) addOrigin() error {
	m := t.message
	switch {
	case m.RequestID != nil:
		if err := t.addCall(*m.RequestID); err != nil {
			return err
		}
	case m.Direction == storage.Inbound || m.Source == storage.SourceApp:
		// The provider's clock may be ahead of ours, and has whole seconds.
		t.add(TraceEntry{Kind: TracePerson, At: min(cmp.Or(m.SentAt, m.CreatedAt), m.CreatedAt)}, "")
	}

	t.add(TraceEntry{Kind: TraceStored, At: m.CreatedAt}, storedBody(m))
	return cmp.Or(t.findBroadcast(), t.findSender())
}

// findBroadcast finds which broadcast made the message.
func (t *tracer) findBroadcast() error {
	if t.message.Broadcast == nil {
		return nil
	}

	b, err := t.rx.BroadcastByNumber(*t.message.Broadcast)
	if err == nil {
		t.broadcast = &TracedBroadcast{ID: b.ID, Name: b.Name}
	}
	return storage.IgnoreNotFound(err)
}

// findSender finds who sent the message in the console, also when the call is not in the
// log any more.
func (t *tracer) findSender() error {
	if t.message.SentBy == nil || t.sentBy != nil {
		return nil
	}

	t.sentBy = &callerView{ID: *t.message.SentBy}
	u, err := t.rx.UserByID(*t.message.SentBy)
	if err == nil {
		t.sentBy.Name = &u.Name
	}
	return storage.IgnoreNotFound(err)
}

// addCall adds the call that made the message. A call that is not in the log yet, or no more, is
// known by its id, which carries its time.
func (t *tracer) addCall(requestID string) error {
	c, err := t.rx.LoggedCall(t.organization, requestID)
	if storage.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		t.add(TraceEntry{Kind: TraceCall, At: min(storage.RequestTime(requestID), t.message.CreatedAt)}, "")
		return nil
	}

	view := viewLoggedCall(c)
	t.sentBy = view.User
	t.add(TraceEntry{Kind: TraceCall, At: min(c.CreatedAt, t.message.CreatedAt), Call: &view}, "")
	return nil
}

// storedBody is what a message says, in the form in which it would be sent.
func storedBody(m storage.Message) string {
	body := map[string]any{"type": m.Type, m.Type: json.RawMessage(m.Content)}
	if m.Recipient != nil {
		body["recipient"] = *m.Recipient
	} else if to := m.To(); to != nil {
		body["to"] = *to
	}
	if m.Context != nil {
		body["context"] = json.RawMessage(m.Context)
	}

	text, err := rest.AppendView(nil, body)
	if err != nil {
		return "" // a content that is no JSON is for the doctor
	}
	return string(text)
}

// addTries adds the tries at the provider that failed.
func (t *tracer) addTries() error {
	tries, err := t.rx.MessageTries(t.message)
	for _, one := range tries {
		t.tries, t.status = one.Try, storage.MessagePending
		t.add(TraceEntry{Kind: TraceTry, At: one.BeganAt, Failed: true, Try: &tracedTryView{
			Try: one.Try, DurationMS: &one.DurationMS, HTTPStatus: one.HTTPStatus, Code: one.Code, Reason: &one.Reason,
		}}, storage.OrEmpty(one.Answer))
	}
	return err
}

// addEvents adds the message's events, what they report, and their deliveries.
func (t *tracer) addEvents() error {
	budget := storage.NewBudget(maxTraceBytes)
	found, err := t.rx.Within(budget).EventsOfMessage(t.organization, t.message, maxTracedEvents)
	if err != nil {
		return err
	}
	t.cut = found.Cut || found.More || budget.Cut()

	deliveries, others, err := t.rx.DeliveriesOfEvents(found.Events, maxTracedDeliveries)
	if err != nil {
		return err
	}
	t.leftOut += others
	of := make(map[string][]storage.TracedDelivery)
	for _, d := range deliveries {
		of[d.Event] = append(of[d.Event], d)
	}

	for _, e := range found.Events {
		t.addCause(e)
		t.add(TraceEntry{Kind: TraceEvent, At: e.CreatedAt, Event: &tracedEventView{e.ID, e.Type, len(of[e.ID])}}, string(e.Payload))
		for _, d := range of[e.ID] {
			if err := t.addDelivery(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCause adds what an event reports: that the provider accepted the message, reported a
// status, or that the message failed.
func (t *tracer) addCause(e storage.EventItem) {
	switch {
	case e.Type == event.TypeMessageSent && t.message.Source != storage.SourceApp:
		t.tries++
		t.add(TraceEntry{Kind: TraceAccepted, At: e.CreatedAt, Status: t.move(storage.MessageSent), Try: &tracedTryView{
			Try: t.tries, MessageID: t.message.ProviderID,
		}}, "")
	case e.Type == event.TypeMessageStatus:
		report, _ := messaging.ReadStatus(e.Payload) // the payload is shown too, if it cannot be read
		change := t.move(report.Status)
		change.ProviderAt, change.Error = storage.At(time.Unix(int64(report.Timestamp), 0)), failureOf(report)

		entry := TraceEntry{Kind: TraceCallback, At: e.CreatedAt, Status: change, Failed: change.To == storage.MessageFailed}
		if e.EventID == t.message.ID { // the provider knows nothing of it
			entry.Kind, change.ProviderAt, change.Error = TraceFailed, 0, t.ownFailure(change.Error)
		}
		t.add(entry, "")
	}
}

// move moves the status as a report of another moves a message's.
func (t *tracer) move(reported string) *tracedStatusView {
	change := &tracedStatusView{From: t.status, To: storage.NextStatus(t.status, reported), Reported: reported}
	t.status = change.To
	return change
}

// ownFailure is why the message failed, in our own code if there is one.
func (t *tracer) ownFailure(said *tracedErrorView) *tracedErrorView {
	m := t.message
	if m.ErrorCode == nil || m.ErrorMessage == nil {
		return said
	}
	code := *m.ErrorCode
	if m.ErrorProviderCode != nil {
		code = strconv.Itoa(*m.ErrorProviderCode)
	}
	return &tracedErrorView{Code: code, Message: *m.ErrorMessage}
}

// addDelivery adds each attempt of a delivery, or that there was none.
func (t *tracer) addDelivery(d storage.TracedDelivery) error {
	attempts, err := t.rx.Attempts(d.Delivery)
	if err != nil {
		return err
	}

	view := tracedDeliveryView{
		ID: d.ID, SubscriptionID: d.SubscriptionID, EventType: d.EventType, URL: d.URL, Description: d.Description,
		WebhookStatus: d.WebhookStatus, Status: d.Status, ReplayedFrom: d.ReplayedFrom,
	}
	if len(attempts) == 0 {
		view.ErrorCode, view.ErrorMessage, view.NextAttemptAt = d.ErrorCode, d.ErrorMessage, d.NextAttemptAt
		t.add(TraceEntry{Kind: TraceDelivery, At: d.CreatedAt, Failed: d.Status == storage.DeliveryDead, Delivery: &view}, "")
		return nil
	}

	for i, a := range attempts {
		one := view
		one.Attempt, one.ResponseStatus, one.DurationMS = a.Attempt, a.ResponseStatus, a.DurationMS
		one.ErrorCode, one.ErrorMessage = a.ErrorCode, a.ErrorMessage
		if one.IsLast = i == len(attempts)-1; one.IsLast {
			one.NextAttemptAt = d.NextAttemptAt
		}

		entry := TraceEntry{Kind: TraceAttempt, At: a.AttemptedAt, Failed: a.ErrorCode != nil, Delivery: &one}
		t.add(entry, storage.OrEmpty(a.ResponseBodySnippet))
	}
	return nil
}

// failureOf is why a message failed, as the provider says.
func failureOf(s provider.Status) *tracedErrorView {
	if len(s.Errors) == 0 {
		return nil
	}
	e := s.Errors[0]
	return &tracedErrorView{Code: strconv.Itoa(e.Code), Message: cmp.Or(e.Details, e.Message, e.Title)}
}

// addRules adds what rules did because of the message, or why they did nothing.
func (t *tracer) addRules() error {
	all, err := jobs.TraceRules(t.rx, t.message)
	for _, r := range all {
		t.add(TraceEntry{Kind: TraceRule, At: r.At, Rule: &r}, "")
	}
	return err
}
