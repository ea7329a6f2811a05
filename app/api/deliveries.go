package api

import (
	"encoding/json"
	"fmt"

	"confab/storage"
)

// deliveryView is the public shape of a webhook delivery.
type deliveryView struct {
	ID                  string          `json:"id"`
	Object              string          `json:"object"`
	SubscriptionID      string          `json:"subscription_id"`
	EventType           string          `json:"event_type"`
	EventID             string          `json:"event_id"`
	Status              string          `json:"status"`
	AttemptCount        int             `json:"attempt_count"`
	LastAttemptAt       storage.Time    `json:"last_attempt_at"`
	NextAttemptAt       storage.Time    `json:"next_attempt_at"`
	ResponseStatus      *int            `json:"response_status"`
	ResponseBodySnippet *string         `json:"response_body_snippet"`
	DurationMS          *int64          `json:"duration_ms"`
	ErrorCode           *string         `json:"error_code"`
	ErrorMessage        *string         `json:"error_message"`
	ReplayedFrom        *string         `json:"replayed_from"`
	CreatedAt           storage.Time    `json:"created_at"`
	Payload             json.RawMessage `json:"payload,omitempty"` // where a single one is fetched
}

// ViewDelivery is a delivery in the API's shape, with its payload if there is one, for
// packages that show it elsewhere.
func ViewDelivery(d storage.Delivery, payload []byte) any {
	view := viewDelivery(d)
	view.Payload = payload
	return view
}

func viewDelivery(d storage.Delivery) deliveryView {
	return deliveryView{
		ID:                  d.ID,
		Object:              "webhook_delivery",
		SubscriptionID:      d.SubscriptionID,
		EventType:           d.EventType,
		EventID:             d.EventID,
		Status:              d.Status,
		AttemptCount:        d.AttemptCount,
		LastAttemptAt:       d.LastAttemptAt,
		NextAttemptAt:       d.NextAttemptAt,
		ResponseStatus:      d.ResponseStatus,
		ResponseBodySnippet: d.ResponseBodySnippet,
		DurationMS:          d.DurationMS,
		ErrorCode:           d.ErrorCode,
		ErrorMessage:        d.ErrorMessage,
		ReplayedFrom:        d.ReplayedFrom,
		CreatedAt:           d.CreatedAt,
	}
}

// maxEventID is longer than the ids of any provider's messages, and than ours.
const maxEventID = maxMessageID

// deliveryFilters reads the filters of a list of deliveries.
func deliveryFilters(r *request) (storage.DeliveryFilter, error) {
	q := filters{values: r.query()}
	f := storage.DeliveryFilter{
		SubscriptionID: q.id("subscription_id", storage.PrefixSubscription),
		Status:         q.oneOf("status", storage.DeliveryPending, storage.DeliverySucceeded, storage.DeliveryFailed, storage.DeliveryDead),
		EventType:      q.values.Get("event_type"),
		EventID:        q.text("event_id", maxEventID),
		CreatedAfter:   q.after("created_after"),
		CreatedBefore:  q.before("created_before"),
	}

	if q.err == nil && q.values.Has("event_type") {
		q.err = checkEventType("event_type", &f.EventType)
	}
	return f, q.err
}

// listDeliveries handles GET /v1/webhook_deliveries.
func (s *Server) listDeliveries(r *request) (reply, error) {
	f, err := deliveryFilters(r)
	if err != nil {
		return reply{}, err
	}

	return listOf(s, r, lister[storage.Delivery, deliveryView]{
		scope: fmt.Sprintf("webhook_deliveries %#v", f),
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Delivery, storage.After, error) {
			return rx.Within(q.budget).Deliveries(r.org.ID, f, q.after, q.fetch())
		},
		key:  func(d storage.Delivery) storage.After { return storage.After{Key: d.CreatedAt, ID: d.ID} },
		view: viewDelivery,
	})
}

// deliveryIn finds the delivery in the path.
func deliveryIn(rx *storage.Rx, r *request) (storage.Delivery, error) {
	return inPath(r, "id", storage.PrefixDelivery, r.org.ID, rx.Delivery)
}

// getDelivery handles GET /v1/webhook_deliveries/:id.
func (s *Server) getDelivery(r *request) (reply, error) {
	return showFound(s, r, deliveryIn, func(rx *storage.Rx, d storage.Delivery) (_ reply, err error) {
		view := viewDelivery(d)
		view.Payload, err = rx.Payload(d)
		return ok(view), err
	})
}

// attemptView is one attempt of a delivery.
type attemptView struct {
	Attempt             int          `json:"attempt"`
	AttemptedAt         storage.Time `json:"attempted_at"`
	ResponseStatus      *int         `json:"response_status"`
	DurationMS          *int64       `json:"duration_ms"`
	ErrorCode           *string      `json:"error_code"`
	ErrorMessage        *string      `json:"error_message"`
	ResponseBodySnippet *string      `json:"response_body_snippet"`
}

// listAttempts handles GET /v1/webhook_deliveries/:id/attempts.
func (s *Server) listAttempts(r *request) (reply, error) {
	return showFound(s, r, deliveryIn, func(rx *storage.Rx, d storage.Delivery) (reply, error) {
		rows, err := rx.Attempts(d)
		if err != nil {
			return reply{}, err
		}

		views := make([]attemptView, len(rows))
		for i, row := range rows {
			views[i] = attemptView(row)
		}
		return wholeList(views)
	})
}

// replayDelivery handles POST /v1/webhook_deliveries/:id/replay.
func (s *Server) replayDelivery(r *request) (reply, error) {
	return updateFound(s, r, deliveryIn, func(tx *storage.Tx, d storage.Delivery) (reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.org.ID, d.SubscriptionID); err != nil {
			return reply{}, err
		}

		again, err := tx.ReplayDelivery(d)
		return accepted(viewDelivery(again)), err
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

func (b *bulkReplay) validate() error {
	switch {
	case b.SubscriptionID == nil:
		return missing("subscription_id")
	case b.Status != nil && *b.Status != storage.DeliveryDead && *b.Status != storage.DeliveryFailed:
		return invalid("status", "must be dead or failed")
	}

	if err := checkEventType("event_type", b.EventType); err != nil {
		return err
	}

	// The times are read by the same rules as those in a query.
	q := filters{values: make(map[string][]string)}
	q.set("created_after", b.CreatedAfter)
	q.set("created_before", b.CreatedBefore)
	b.filter = storage.ReplayFilter{
		SubscriptionID: *b.SubscriptionID,
		Status:         storage.DeliveryDead,
		CreatedAfter:   q.after("created_after"),
		CreatedBefore:  q.before("created_before"),
	}

	if b.Status != nil {
		b.filter.Status = *b.Status
	}
	if b.EventType != nil {
		b.filter.EventType = *b.EventType
	}

	return q.err
}

// bulkReplayView is what a bulk replay did, or would do.
type bulkReplayView struct {
	Enqueued int  `json:"enqueued"`
	Capped   bool `json:"capped"`
}

// bulkReplayDeliveries handles POST /v1/webhook_deliveries/bulk_replay.
func (s *Server) bulkReplayDeliveries(r *request) (reply, error) {
	var in bulkReplay
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	if in.DryRun != nil && *in.DryRun {
		return s.countReplayable(r, in)
	}

	err := s.view(r, func(rx *storage.Rx) (err error) {
		in.filter.BeforeJob, err = rx.NextJob()
		return err
	})
	if err != nil {
		return reply{}, err
	}

	return updateInSteps(s, r, 0, func(tx *storage.Tx, replayed int) (int, *reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.org.ID, *in.SubscriptionID); err != nil {
			return replayed, nil, err
		}

		r.target = *in.SubscriptionID
		n, more, err := tx.ReplayDeliveries(in.filter, storage.MaxReplay-replayed)
		replayed += n
		if err != nil || more && replayed < storage.MaxReplay {
			return replayed, nil, err
		}
		return replayed, new(accepted(bulkReplayView{replayed, more})), nil
	})
}

// countReplayable answers a dry run. Like every answer to a POST it is stored, and
// repeated to the same Idempotency-Key.
func (s *Server) countReplayable(r *request, in bulkReplay) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		if _, err := enabledSubscription(&tx.Rx, r.org.ID, *in.SubscriptionID); err != nil {
			return reply{}, err
		}

		n, err := tx.CountReplayable(in.filter, storage.MaxReplay+1)
		rep := accepted(bulkReplayView{min(n, storage.MaxReplay), n > storage.MaxReplay})
		rep.unchanged = true
		return rep, err
	})
}
