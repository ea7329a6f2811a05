package api

import (
	"cmp"
	"strconv"
	"time"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/storage"
)

type subscriptionView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.Subscription
	InitialSecret string `json:"initial_secret,omitempty"` // once
}

// ViewSubscription is a subscription in the API's shape, on the command line too.
func ViewSubscription(s storage.Subscription, secrets []storage.Secret) subscriptionView {
	s.Secrets, s.PhoneNumberIDs = rest.OrEmpty(secrets), rest.OrEmpty(s.PhoneNumberIDs)
	if s.CustomHeaders == nil {
		s.CustomHeaders = map[string]string{}
	}
	return subscriptionView{ID: s.ID, Object: "webhook_subscription", Subscription: s}
}

// listSubscriptions handles GET /v1/webhook_subscriptions.
func (s *Server) listSubscriptions(r *rest.Request) (rest.Reply, error) {
	var secrets map[string][]storage.Secret
	return rest.ListOf(s.Server, r, rest.Lister[storage.Subscription, subscriptionView]{
		Scope: "webhook_subscriptions",
		Read: func(rx *storage.Rx, q *rest.ListQuery) (rows []storage.Subscription, _ storage.After, err error) {
			if rows, err = rx.Within(q.Budget).Subscriptions(r.Org.ID, q.After, q.Fetch()); err == nil {
				secrets, err = rx.SecretsOf(rows)
			}
			return rows, storage.Last, err
		},
		Key:  func(s storage.Subscription) storage.After { return storage.After{Key: s.CreatedAt, ID: s.ID} },
		View: func(s storage.Subscription) subscriptionView { return ViewSubscription(s, secrets[s.ID]) },
	})
}

// createSubscription handles POST /v1/webhook_subscriptions.
func (s *Server) createSubscription(r *rest.Request, in newSubscription) (rest.Reply, error) {
	if err := s.checkWebhookURL(r, *in.URL); err != nil {
		return rest.Reply{}, err
	}
	if in.format() == storage.FormatProvider {
		if err := s.verifyEndpoint(r.HTTP.Context(), *in.URL, *in.VerifyToken); err != nil {
			return rest.Reply{}, err
		}
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		sub := in.subscription(r.Org.ID)
		if err := cmp.Or(checkOwnNumbers(&tx.Rx, r.Org.ID, in.PhoneNumberIDs), checkSubscriptionCount(&tx.Rx, r)); err != nil {
			return rest.Reply{}, err
		}

		secret, err := tx.InsertSubscription(&sub)
		if err != nil {
			return rest.Reply{}, err
		}

		secrets, err := tx.Secrets(sub.ID)
		view := ViewSubscription(sub, secrets)
		view.InitialSecret = secret // shown only here

		return rest.Created(view).WithSecret(), err
	})
}

// checkSubscriptionCount refuses another subscription of an organization that has as
// many as its plan allows: each of them costs every event something.
func checkSubscriptionCount(rx *storage.Rx, r *rest.Request) error {
	most := r.Plan.WebhookSubscriptions
	if most == 0 {
		return nil
	}

	n, err := rx.CountSubscriptions(r.Org.ID)
	if err == nil && n >= most {
		return rest.Fail(rest.QuotaExceeded, "The plan allows "+strconv.Itoa(most)+" webhook subscriptions. Delete one first.")
	}
	return err
}

// showSubscription replies with a subscription.
func showSubscription(rx *storage.Rx, sub storage.Subscription) (rest.Reply, error) {
	secrets, err := rx.Secrets(sub.ID)
	return rest.OK(ViewSubscription(sub, secrets)), err
}

// SubscriptionIn finds the subscription in the path.
var SubscriptionIn = rest.OfOrganization(storage.PrefixSubscription, (*storage.Rx).Subscription)

// EnabledSubscriptionIn finds the subscription in the path, if it is not disabled.
func EnabledSubscriptionIn(rx *storage.Rx, r *rest.Request) (storage.Subscription, error) {
	return enabledSubscription(rx, r.Org.ID, r.Param("id"))
}

// enabledSubscription finds one that is not disabled.
func enabledSubscription(rx *storage.Rx, organization int64, id string) (storage.Subscription, error) {
	if !storage.ValidID(storage.PrefixSubscription, id) {
		return storage.Subscription{}, rest.NotFound()
	}
	sub, err := rx.Subscription(organization, id)
	if err == nil && sub.Status == storage.WebhookDisabled {
		err = errDisabled()
	}
	return sub, err
}

func errDisabled() error {
	return rest.Fail(rest.WebhookDisabled, "This webhook subscription is disabled. Set its status to active first.")
}

// updateSubscription handles PATCH /v1/webhook_subscriptions/:id.
func (s *Server) updateSubscription(r *rest.Request, in subscriptionChanges) (rest.Reply, error) {
	if in.URL.Set {
		if err := s.checkWebhookURL(r, in.URL.Value); err != nil {
			return rest.Reply{}, err
		}
	}
	if err := s.checkChanges(r, &in); err != nil {
		return rest.Reply{}, err
	}

	return rest.UpdateFound(s.Server, r, SubscriptionIn, func(tx *storage.Tx, sub storage.Subscription) (rest.Reply, error) {
		if sub.Status == storage.WebhookDisabled && in.Status.Value != storage.WebhookActive {
			return rest.Reply{}, errDisabled() // since checkChanges looked
		}
		if err := in.apply(tx, &sub); err != nil {
			return rest.Reply{}, err
		}
		return showSubscription(&tx.Rx, sub)
	})
}

// checkChanges checks changes against the subscription that they are of, and verifies the endpoint
// of a native one where it changes.
func (s *Server) checkChanges(r *rest.Request, in *subscriptionChanges) error {
	sub, err := rest.Find(s.Server, r, SubscriptionIn)
	if err != nil {
		return err
	}
	if sub.Status == storage.WebhookDisabled && in.Status.Value != storage.WebhookActive {
		return errDisabled()
	}
	if err := in.checkFor(sub); err != nil {
		return err
	}
	if sub.Format != storage.FormatProvider || !in.URL.Set && !in.VerifyToken.Set {
		return nil
	}

	in.URL.Apply(&sub.URL)
	in.VerifyToken.Apply(&sub.VerifyToken)
	return s.verifyEndpoint(r.HTTP.Context(), sub.URL, sub.VerifyToken)
}

// testRequest is the body of POST /v1/webhook_subscriptions/:id/test.
type testRequest struct {
	EventType *string `json:"event_type"`
}

// Validate leaves the type to the handler: which there are depends on the subscription's format.
func (t *testRequest) Validate() error { return nil }

// eventType is the type of the sample: the one that the body names, else the first
// that the subscription listens to. Of all types it is usual.
func (t *testRequest) eventType(sub storage.Subscription, usual string) string {
	kind := *cmp.Or(t.EventType, &sub.Events[0])
	if kind == event.AllTypes {
		return usual
	}
	return kind
}

// testSubscription handles POST /v1/webhook_subscriptions/:id/test.
func (s *Server) testSubscription(r *rest.Request, in testRequest) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, EnabledSubscriptionIn, func(tx *storage.Tx, sub storage.Subscription) (rest.Reply, error) {
		if sub.Format == storage.FormatProvider {
			return s.testNative(tx, sub, in)
		}
		if err := CheckEventType("event_type", in.EventType); err != nil {
			return rest.Reply{}, err
		}

		sample, err := event.Sample(in.eventType(sub, event.TypeMessageReceived), r.Org.ID, tx.Now, tx.NewID)
		if err != nil {
			return rest.Reply{}, err
		}

		d, err := sample.EmitOnlyTo(tx, sub.ID)
		return rest.Accepted(ViewDelivery(d)), err
	})
}

// StatsView summarizes a subscription's deliveries.
type StatsView struct {
	Object      string        `json:"object"`
	Since       storage.Time  `json:"since"`
	Total       int           `json:"total"`
	Pending     int           `json:"pending"`
	Succeeded   int           `json:"succeeded"`
	Failed      int           `json:"failed"`
	Dead        int           `json:"dead"`
	SuccessRate *float64      `json:"success_rate"`
	DurationMS  durationsView `json:"duration_ms"`
}

type durationsView struct {
	P50 *int64 `json:"p50"`
	P95 *int64 `json:"p95"`
}

func ViewStats(since storage.Time, d storage.DeliveryStats) StatsView {
	v := StatsView{
		Object:     "webhook_subscription_stats",
		Since:      since,
		Total:      d.Total(),
		Pending:    d.Pending,
		Succeeded:  d.Succeeded,
		Failed:     d.Failed,
		Dead:       d.Dead,
		DurationMS: durationsView{d.P50, d.P95},
	}

	if d.Attempted > 0 {
		v.SuccessRate = new(float64(d.Succeeded) / float64(d.Attempted))
	}
	return v
}

// StatsSince is since when deliveries are counted by default: for a day.
func StatsSince(now storage.Time) storage.Time {
	return now.Add(-24 * time.Hour)
}

// getSubscriptionStats handles GET /v1/webhook_subscriptions/:id/stats.
func (s *Server) getSubscriptionStats(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	since := StatsSince(r.Now)
	if q.Values.Has("since") {
		since = q.After("since")
	}
	if q.Err != nil {
		return rest.Reply{}, q.Err
	}

	stats, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) (storage.DeliveryStats, error) {
		return rx.DeliveryStats(r.Param("id"), since)
	})
	return rest.OK(ViewStats(since, stats)), err
}
