package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// DeliveryView is the public shape of a webhook delivery, on the command line too.
type DeliveryView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.Delivery
	Payload json.RawMessage `json:"payload,omitempty"` // where a single one is fetched
}

// ViewDelivery shows a delivery.
func ViewDelivery(d storage.Delivery) DeliveryView {
	return DeliveryView{ID: d.ID, Object: "webhook_delivery", Delivery: d}
}

// maxEventID is longer than the ids of any provider's messages, and than ours.
const maxEventID = rest.MaxMessageID

// listDeliveries handles GET /v1/webhook_deliveries.
func (s *Server) listDeliveries(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.DeliveryFilter{
		SubscriptionID: q.ID("subscription_id", storage.PrefixSubscription),
		Status:         q.OneOf("status", storage.DeliveryPending, storage.DeliverySucceeded, storage.DeliveryFailed, storage.DeliveryDead),
		EventType:      q.Values.Get("event_type"),
		EventID:        q.Text("event_id", maxEventID),
		CreatedAfter:   q.After("created_after"),
		CreatedBefore:  q.Before("created_before"),
		Of:             r.Key.Accounts,
	}

	if q.Err == nil && q.Values.Has("event_type") {
		q.Err = s.checkDelivered(r, &f.EventType)
	}

	return rest.ListOf(s.Server, r, rest.Lister[storage.Delivery, DeliveryView]{
		Scope: fmt.Sprintf("webhook_deliveries %#v", f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Delivery, storage.After, error) {
			return rx.Within(q.Budget).Deliveries(r.Org.ID, f, q.After, q.Fetch())
		},
		Key:  func(d storage.Delivery) storage.After { return storage.After{Key: d.CreatedAt, ID: d.ID} },
		View: ViewDelivery,
	})
}

// DeliveryIn finds the delivery in the path.
func DeliveryIn(rx *storage.Rx, r *rest.Request) (storage.Delivery, error) {
	d, err := rest.InPath(r, "id", storage.PrefixDelivery, r.Org.ID, rx.Delivery)
	if err != nil || !r.Key.Accounts.Bound() {
		return d, err
	}

	account, err := rx.AccountOfEvent(d.Event)
	if err == nil && !r.Key.Accounts.Has(account) {
		return d, rest.NotFound()
	}
	return d, err
}

// getDelivery handles GET /v1/webhook_deliveries/:id: a delivery and its payload.
func (s *Server) getDelivery(r *rest.Request) (rest.Reply, error) {
	return rest.Query(s.Server, r, func(rx *storage.Rx) (rest.Reply, error) {
		d, err := DeliveryIn(rx, r)
		if err != nil {
			return rest.Reply{}, err
		}
		payload, err := rx.Payload(d)
		if err == nil && r.Key.Accounts.Bound() && !event.IsType(d.EventType) {
			payload, err = narrowEnvelope(rx, payload, r.Key)
		}
		view := ViewDelivery(d)
		view.Payload = payload
		return rest.OK(view), err
	})
}

// narrowEnvelope is an envelope of the provider, which may be about several numbers, with only what
// is about those that a key is bound to, or about their business accounts.
func narrowEnvelope(rx *storage.Rx, envelope []byte, k storage.Key) ([]byte, error) {
	changes, err := provider.ParseCallback(envelope)
	if err != nil {
		return nil, nil // of which nobody knows what it is about
	}

	own := make([]*provider.Narrowing, len(changes))
	for i, n := range changes {
		isOwn := slices.Contains(k.PhoneNumberIDs, n.PhoneNumberID())
		if n.PhoneNumberID() == "" {
			accounts, err := rx.AccountsOfWABA(n.WABA)
			if err != nil {
				return nil, err
			}
			isOwn = slices.ContainsFunc(accounts, func(a storage.Account) bool { return k.Accounts.Has(&a.ID) })
		}
		if isOwn {
			own[i] = new(provider.Narrowing)
		}
	}
	return provider.Narrow(envelope, changes, func(i int) *provider.Narrowing { return own[i] }), nil
}

// listAttempts handles GET /v1/webhook_deliveries/:id/attempts.
func (s *Server) listAttempts(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.Attempt, storage.Attempt]{
		Scope: "attempts " + r.Param("id"),
		Read: func(rx *storage.Rx, q *rest.ListQuery) (rows []storage.Attempt, _ storage.After, err error) {
			d, err := DeliveryIn(rx, r)
			if err == nil {
				rows, err = rx.Attempts(d) // they are few
			}
			isShown := func(a storage.Attempt) bool { return int64(a.Attempt) <= rest.NumberOf(q.After) }
			return slices.DeleteFunc(rows, isShown), storage.Last, err
		},
		Key:  func(a storage.Attempt) storage.After { return storage.After{Key: storage.Time(a.Attempt)} },
		View: func(a storage.Attempt) storage.Attempt { return a },
	})
}

// replayDelivery handles POST /v1/webhook_deliveries/:id/replay.
func (s *Server) replayDelivery(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, DeliveryIn, func(tx *storage.Tx, d storage.Delivery) (rest.Reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.Org.ID, d.SubscriptionID); err != nil {
			return rest.Reply{}, err
		}

		again, err := tx.ReplayDelivery(d)
		return rest.Accepted(ViewDelivery(again)), err
	})
}

// bulkReplay is the body of POST /v1/webhook_deliveries/bulk_replay.
type bulkReplay struct {
	SubscriptionID *string `json:"subscription_id"`
	Status         *string `json:"status"`
	EventType      *string `json:"event_type"`
	CreatedAfter   *string `json:"created_after"`
	CreatedBefore  *string `json:"created_before"`
	DryRun         *bool   `json:"dry_run"`

	filter storage.ReplayFilter
}

func (b *bulkReplay) Validate() error {
	switch {
	case b.SubscriptionID == nil:
		return rest.Missing("subscription_id")
	case b.Status != nil && *b.Status != storage.DeliveryDead && *b.Status != storage.DeliveryFailed:
		return rest.Invalid("status", "must be dead or failed")
	}

	// The times are read by the same rules as those in a query.
	q := rest.Filters{Values: make(map[string][]string)}
	q.Set("created_after", b.CreatedAfter)
	q.Set("created_before", b.CreatedBefore)
	b.filter = storage.ReplayFilter{
		SubscriptionID: *b.SubscriptionID,
		Status:         *cmp.Or(b.Status, new(storage.DeliveryDead)),
		EventType:      storage.OrEmpty(b.EventType),
		CreatedAfter:   q.After("created_after"),
		CreatedBefore:  q.Before("created_before"),
	}

	return q.Err
}

// bulkReplayView is what a bulk replay did, or would do.
type bulkReplayView struct {
	Enqueued int  `json:"enqueued"`
	Capped   bool `json:"capped"`
}

// bulkReplayDeliveries handles POST /v1/webhook_deliveries/bulk_replay.
func (s *Server) bulkReplayDeliveries(r *rest.Request, in bulkReplay) (rest.Reply, error) {
	if err := s.checkDelivered(r, in.EventType); err != nil {
		return rest.Reply{}, err
	}
	if in.DryRun != nil && *in.DryRun {
		return s.countReplayable(r, in)
	}

	var err error
	if in.filter.BeforeJob, err = rest.Query(s.Server, r, (*storage.Rx).NextJob); err != nil {
		return rest.Reply{}, err
	}

	return rest.UpdateInSteps(s.Server, r, 0, func(tx *storage.Tx, replayed int) (int, *rest.Reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.Org.ID, *in.SubscriptionID); err != nil {
			return replayed, nil, err
		}

		r.Target = *in.SubscriptionID
		n, more, err := tx.ReplayDeliveries(in.filter, storage.MaxReplay-replayed)
		replayed += n
		if err != nil || more && replayed < storage.MaxReplay {
			return replayed, nil, err
		}
		return replayed, new(rest.Accepted(bulkReplayView{replayed, more})), nil
	})
}

// countReplayable answers a dry run. Like every answer to a POST it is stored, and
// repeated to the same Idempotency-Key.
func (s *Server) countReplayable(r *rest.Request, in bulkReplay) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.Org.ID, *in.SubscriptionID); err != nil {
			return rest.Reply{}, err
		}

		n, err := tx.CountReplayable(in.filter, storage.MaxReplay+1)
		rep := rest.Accepted(bulkReplayView{min(n, storage.MaxReplay), n > storage.MaxReplay})
		rep.Unchanged = true
		return rep, err
	})
}
