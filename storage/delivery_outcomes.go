package storage

import (
	"errors"

	"confab/storage/sqlite"
)

// OutgoingDelivery is what goes out with a delivery, and how many attempts were made so far.
type OutgoingDelivery struct {
	Delivery     string `db:"id"`
	Subscription string `db:"subscription_id"`
	Status       string `db:"status"`
	Attempts     int    `db:"attempt_count"` // made so far
	Event        string `db:"event"`
	EventID      string `db:"event_id"`
	Type         string `db:"event_type"`
	Source       string `db:"source"`
	Payload      []byte `db:"payload"`
}

const parcelColumns = `d.id, d.subscription_id, d.status, d.attempt_count, d.event, d.event_id, d.event_type, e.source, e.payload`

// OutgoingDelivery finds what a delivery carries.
func (rx *Rx) OutgoingDelivery(delivery string) (OutgoingDelivery, error) {
	return get[OutgoingDelivery](rx, `
		SELECT `+parcelColumns+`
		FROM deliveries d JOIN events e ON e.id = d.event
		WHERE d.id = ?`, delivery)
}

// maxKeptPayload is how large a payload may be to be kept in memory for a delivery that
// waits in the queue: thousands may wait. Most are much smaller.
const maxKeptPayload = 8 << 10

// OutgoingDeliveries finds what deliveries carry, but for deleted ones and those too large for memory.
func (rx *Rx) OutgoingDeliveries(deliveries []string) ([]OutgoingDelivery, error) {
	fields := func(p *OutgoingDelivery) []any {
		return []any{&p.Delivery, &p.Subscription, &p.Status, &p.Attempts, &p.Event, &p.EventID, &p.Type, &p.Source, &p.Payload}
	}
	return sqlite.ScanAll(&rx.Rx, fields, `
		SELECT `+parcelColumns+`
		FROM json_each(?) j CROSS JOIN deliveries d ON d.id = j.value JOIN events e ON e.id = d.event
		WHERE length(e.payload) <= ?`, jsonList(deliveries), maxKeptPayload)
}

// parcelOf is the parcel of a delivery that is made now, nil if it is too large for memory.
func parcelOf(d *Delivery, e Event) any {
	if len(e.Payload) > maxKeptPayload {
		return nil
	}
	return OutgoingDelivery{
		Delivery: d.ID, Subscription: d.SubscriptionID, Status: DeliveryPending,
		Event: e.ID, EventID: e.EventID, Type: e.Type, Source: e.Source, Payload: e.Payload,
	}
}

// MarkDelivered records a success, which ends a run of failures. A first try has no row of its own.
func (tx *Tx) MarkDelivered(p OutgoingDelivery, a Attempt) error {
	if err := tx.markAttempt(p, DeliverySucceeded, a, 0); err != nil {
		return err
	}

	if a.Attempt > 1 {
		if err := tx.insertAttempt(p, a); err != nil {
			return err
		}
	}

	// Reading the count of failures is cheap, and almost always saves the update.
	failures, err := tx.db.caches.failures.find(&tx.Rx, p.Subscription)
	switch {
	case errors.Is(err, ErrNotFound): // deleted while this one was on its way
		return nil
	case err != nil || failures == 0:
		return err
	}

	return tx.Run(`
		UPDATE subscriptions
		SET consecutive_failures = 0, failing_since = 0
		WHERE id = ?`, p.Subscription)
}

// MarkUndelivered records that an attempt failed, and another follows; with 0 it was the last.
func (tx *Tx) MarkUndelivered(p OutgoingDelivery, a Attempt, next Time) error {
	status := DeliveryFailed
	if next == 0 {
		status = DeliveryDead
	}
	if err := tx.markAttempt(p, status, a, next); err != nil {
		return err
	}
	return tx.insertAttempt(p, a)
}

// markAttempt writes an attempt into its delivery. That has not ended: who ends it
// otherwise takes its job away.
func (tx *Tx) markAttempt(p OutgoingDelivery, status string, a Attempt, next Time) error {
	err := tx.ExecOne(`
		UPDATE deliveries
		SET status = ?, attempt_count = ?, last_attempt_at = ?, next_attempt_at = ?,
			response_status = ?, response_body_snippet = ?, duration_ms = ?, error_code = ?, error_message = ?
		WHERE id = ?`,
		status, a.Attempt, a.AttemptedAt, next, a.ResponseStatus, a.ResponseBodySnippet,
		a.DurationMS, a.ErrorCode, a.ErrorMessage, p.Delivery)
	if err == nil && status != DeliveryFailed {
		tx.countEnded(p.Subscription, p.Delivery, status, true)
	}
	return tx.hint(err, HintDelivery, Scope{Subscription: p.Subscription}, p.Delivery)
}

func (tx *Tx) insertAttempt(p OutgoingDelivery, a Attempt) error {
	return tx.Run(`
		INSERT INTO delivery_attempts (delivery_id, attempt, attempted_at, response_status,
			duration_ms, error_code, error_message, response_body_snippet)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Delivery, a.Attempt, a.AttemptedAt, a.ResponseStatus, a.DurationMS, a.ErrorCode, a.ErrorMessage, a.ResponseBodySnippet)
}

func (rx *Rx) readFailures(subscription string) (failures int, err error) {
	return value[int](rx, `SELECT consecutive_failures FROM subscriptions WHERE id = ?`, subscription)
}

// CountFailure counts a failed attempt of a subscription, and says how many
// there were since its last success and when the first of them was: now, if that
// would be in the future, because the clock was ahead. ErrNotFound means that the
// subscription is disabled or deleted.
func (tx *Tx) CountFailure(subscription string) (failures int, since Time, err error) {
	err = tx.Scan([]any{&failures, &since}, `
		UPDATE subscriptions
		SET consecutive_failures = consecutive_failures + 1, failing_since = iif(failing_since BETWEEN 1 AND ?1, failing_since, ?1)
		WHERE id = ?2 AND status <> 'disabled' AND deleted_at = 0
		RETURNING consecutive_failures, failing_since`, tx.Now, subscription)
	return failures, since, err
}

// MarkDeliveryDisabled ends a delivery whose subscription is disabled.
func (tx *Tx) MarkDeliveryDisabled(delivery string) error {
	return tx.MarkDeliveryDead(delivery, codeDisabled, messageDisabled)
}

// MarkDeliveryDead ends a delivery that cannot even be tried, unless it has ended.
func (tx *Tx) MarkDeliveryDead(delivery, code, message string) error {
	var subscription string
	var tried bool
	err := tx.Scan([]any{&subscription, &tried}, `
		UPDATE deliveries
		SET status = 'dead', next_attempt_at = 0, error_code = ?, error_message = ?
		WHERE id = ? AND (status = 'pending' OR status = 'failed')
		RETURNING subscription_id, attempt_count > 0`, code, message, delivery)
	if err != nil {
		return IgnoreNotFound(err)
	}
	tx.countEnded(subscription, delivery, DeliveryDead, tried)
	return tx.hint(nil, HintDelivery, Scope{Subscription: subscription}, delivery)
}

// Attempt is one try of a delivery.
type Attempt struct {
	Attempt             int     `db:"attempt" json:"attempt"`
	AttemptedAt         Time    `db:"attempted_at" json:"attempted_at"`
	ResponseStatus      *int    `db:"response_status" json:"response_status"`
	DurationMS          *int64  `db:"duration_ms" json:"duration_ms"`
	ErrorCode           *string `db:"error_code" json:"error_code"`
	ErrorMessage        *string `db:"error_message" json:"error_message"`
	ResponseBodySnippet *string `db:"response_body_snippet" json:"response_body_snippet"`
}

// Attempts lists the tries of a delivery. A success at the first has no row but the delivery.
func (rx *Rx) Attempts(d Delivery) ([]Attempt, error) {
	all, err := list[Attempt](rx, `
		SELECT attempt, attempted_at, response_status, duration_ms, error_code, error_message, response_body_snippet
		FROM delivery_attempts
		WHERE delivery_id = ?
		ORDER BY attempt`, d.ID)
	if err == nil && len(all) == 0 && d.AttemptCount > 0 {
		all = []Attempt{{
			Attempt: d.AttemptCount, AttemptedAt: d.LastAttemptAt, ResponseStatus: d.ResponseStatus, DurationMS: d.DurationMS,
			ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, ResponseBodySnippet: d.ResponseBodySnippet,
		}}
	}

	return all, err
}
