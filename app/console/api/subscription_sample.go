package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/storage"
)

// listEventTypes handles GET /console/api/event_types.
func (s *Server) listEventTypes(*rest.Request) (rest.Reply, error) {
	return rest.WholeList(event.Types(), func(name string) string { return name })
}

// eventSampleView is what an event of a type looks like.
type eventSampleView struct {
	Object  string          `json:"object"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// getEventSample handles GET /console/api/event_sample?type=.
func (s *Server) getEventSample(r *rest.Request) (rest.Reply, error) {
	kind := r.Query().Get("type")
	if err := api.CheckEventType("type", &kind); err != nil {
		return rest.Reply{}, err
	}

	now := s.DB.Now()
	sample, err := event.Sample(kind, r.Org.ID, now, s.DB.NewID)
	if err != nil {
		return rest.Reply{}, err
	}
	payload, err := sample.Payload(s.DB.NewID(storage.PrefixEvent), now)
	return rest.OK(eventSampleView{"event_sample", kind, payload}), err
}

// maxTestPayload is how many bytes a sample may have that somebody has changed.
const maxTestPayload = 64 << 10

// sampleTest is the body of POST /console/api/webhook_subscriptions/:id/test.
type sampleTest struct {
	EventType *string         `json:"event_type"`
	Payload   json.RawMessage `json:"payload"`
}

func (t *sampleTest) Validate() error {
	switch {
	case t.EventType == nil:
		return rest.Missing("event_type")
	case t.Payload == nil || string(t.Payload) == "null":
		return rest.Missing("payload")
	case t.Payload[0] != '{':
		return rest.Invalid("payload", "must be an object")
	case len(t.Payload) > maxTestPayload:
		return rest.Invalid("payload", "must have at most "+strconv.Itoa(maxTestPayload)+" bytes")
	}
	return api.CheckEventType("event_type", t.EventType)
}

// testWithSample handles POST /console/api/webhook_subscriptions/:id/test: a test event
// whose payload somebody has changed.
func (s *Server) testWithSample(r *rest.Request, in sampleTest) (rest.Reply, error) {
	var payload bytes.Buffer
	if err := json.Compact(&payload, in.Payload); err != nil {
		return rest.Reply{}, err
	}

	return rest.UpdateFound(s.Server, r, api.EnabledSubscriptionIn, func(tx *storage.Tx, sub storage.Subscription) (rest.Reply, error) {
		if sub.Format == storage.FormatProvider {
			return rest.Reply{}, rest.Invalid("event_type", "cannot be chosen for a native webhook")
		}
		sample, err := event.Sample(*in.EventType, r.Org.ID, tx.Now, tx.NewID)
		if err != nil {
			return rest.Reply{}, err
		}
		d, err := sample.WithPayload(payload.Bytes()).EmitOnlyTo(tx, sub.ID)
		return rest.Accepted(api.ViewDelivery(d)), err
	})
}

// webhookRequestView is the request of a delivery, as the endpoint gets it.
type webhookRequestView struct {
	Object   string       `json:"object"`
	URL      string       `json:"url"`
	Attempt  int          `json:"attempt"`
	SignedAt storage.Time `json:"signed_at"`
	// AsSent is false before the first attempt, and when none of the secrets is left that
	// signed it: then it is signed as of now.
	AsSent  bool         `json:"as_sent"`
	Headers []headerView `json:"headers"`
	Body    string       `json:"body"` // byte for byte as signed
	// ReplayedAs is the latest delivery that repeats this one.
	ReplayedAs *string `json:"replayed_as"`
}

type headerView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// getDeliveryRequest handles GET /console/api/webhook_deliveries/:id/request: the last
// attempt's, with its signatures. The secrets themselves are not shown.
func (s *Server) getDeliveryRequest(r *rest.Request) (rest.Reply, error) {
	var d storage.Delivery
	var out storage.OutgoingDelivery
	var replay string
	err := s.View(r, func(rx *storage.Rx) (err error) {
		if d, err = api.DeliveryIn(rx, r); err != nil {
			return err
		}
		if replay, err = rx.ReplayOf(d); storage.IgnoreNotFound(err) != nil {
			return err
		}
		out, err = rx.OutgoingDelivery(d.ID)
		return err
	})
	if err != nil {
		return rest.Reply{}, err
	}

	to, err := s.DB.Endpoint(r.HTTP.Context(), d.SubscriptionID)
	if err != nil {
		return rest.Reply{}, err
	}

	view := viewWebhookRequest(d, out, to, r.Now)
	view.ReplayedAs = storage.OrNil(replay)
	return rest.OK(view), nil
}

func viewWebhookRequest(d storage.Delivery, out storage.OutgoingDelivery, to *storage.Endpoint, now storage.Time) webhookRequestView {
	// Signatures carry the real time, which a sandbox's clock that was moved does not tell.
	at, secrets := d.LastAttemptAt, to.PastSecrets(d.LastAttemptAt)
	asSent := at != 0 && at <= storage.Now() && len(secrets) > 0
	if !asSent {
		at, secrets = storage.Now(), to.Secrets(now)
	}

	signed := jobs.WebhookOf(out, to, max(d.AttemptCount, 1), secrets)
	view := webhookRequestView{
		Object:   "webhook_request",
		URL:      to.URL.String(),
		Attempt:  signed.Attempt,
		SignedAt: at,
		AsSent:   asSent,
		Body:     string(out.Payload),
	}

	header := signed.Header(at.Std())
	for _, name := range slices.Sorted(maps.Keys(header)) {
		view.Headers = append(view.Headers, headerView{name, header.Get(name)})
	}
	return view
}
