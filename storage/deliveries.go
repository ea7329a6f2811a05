package storage

import "confab/storage/sqlite"

// States of a delivery.
const (
	DeliveryPending   = "pending"
	DeliverySucceeded = "succeeded"
	DeliveryFailed    = "failed"
	DeliveryDead      = "dead"
)

// Why a delivery is dead without an attempt, or without a last one.
const (
	codeDisabled    = "subscription_disabled"
	messageDisabled = "the subscription is disabled"
)

// Delivery is one event for one subscription, and how it went.
type Delivery struct {
	ID                  string  `db:"id" json:"id"`
	OrganizationID      int64   `db:"organization_id" json:"-"`
	SubscriptionID      string  `db:"subscription_id" json:"subscription_id"`
	Event               string  `db:"event" json:"-"` // the stored event
	EventType           string  `db:"event_type" json:"event_type"`
	EventID             string  `db:"event_id" json:"event_id"` // what X-Svc-Event-Id carries
	Status              string  `db:"status" json:"status"`
	AttemptCount        int     `db:"attempt_count" json:"attempt_count"`
	LastAttemptAt       Time    `db:"last_attempt_at" json:"last_attempt_at"`
	NextAttemptAt       Time    `db:"next_attempt_at" json:"next_attempt_at"`
	ResponseStatus      *int    `db:"response_status" json:"response_status"`
	ResponseBodySnippet *string `db:"response_body_snippet" json:"response_body_snippet"`
	DurationMS          *int64  `db:"duration_ms" json:"duration_ms"`
	ErrorCode           *string `db:"error_code" json:"error_code"`
	ErrorMessage        *string `db:"error_message" json:"error_message"`
	ReplayedFrom        *string `db:"replayed_from" json:"replayed_from"`
	CreatedAt           Time    `db:"created_at" json:"created_at"`
	JobID               int64   `db:"job_id" json:"-"`
}

const (
	deliveryColumns = `d.id, d.organization_id, d.subscription_id, d.event, d.event_type, d.event_id,
		d.status, d.attempt_count, d.last_attempt_at, d.next_attempt_at,
		d.response_status, d.response_body_snippet, d.duration_ms, d.error_code, d.error_message, d.replayed_from, d.created_at, d.job_id`
	selectDeliveries = `SELECT ` + deliveryColumns + ` FROM deliveries d `
)

func (d Delivery) key() After { return After{Key: d.CreatedAt, ID: d.ID} }

// InsertDelivery stores a delivery that is to be made now, with its job, and with what a run that follows at
// once needs, if known. Its id is given.
func (tx *Tx) InsertDelivery(d *Delivery, memory any) error {
	job, err := tx.Enqueue(NewJob{
		Kind:   KindDeliver,
		Lane:   deliveryLane(d.SubscriptionID),
		Args:   DeliverArgs{AboutDelivery{d.ID}},
		Memory: memory,
	})
	if err != nil {
		return err
	}

	d.Status, d.NextAttemptAt, d.CreatedAt, d.JobID = DeliveryPending, tx.Now, tx.Order, job
	_, err = tx.Exec(`
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id,
			status, next_attempt_at, replayed_from, created_at, job_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.OrganizationID, d.SubscriptionID, d.Event, d.EventType, d.EventID,
		d.Status, d.NextAttemptAt, d.ReplayedFrom, d.CreatedAt, d.JobID)
	return tx.hint(err, HintDelivery, Scope{Organization: d.OrganizationID}, d.ID)
}

// insertDeadDelivery stores a delivery that must not be attempted, but can be replayed.
func (tx *Tx) insertDeadDelivery(d Delivery) error {
	_, err := tx.Exec(`
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status,
			error_code, error_message, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 'dead', ?, ?, ?)`,
		d.ID, d.OrganizationID, d.SubscriptionID, d.Event, d.EventType, d.EventID, codeDisabled, messageDisabled, tx.Order)
	if err == nil {
		tx.countEnded(d.SubscriptionID, d.ID, DeliveryDead, false)
	}
	return tx.hint(err, HintDelivery, Scope{Organization: d.OrganizationID}, d.ID)
}

// deleteDeliveries deletes and counts the deliveries that a condition chooses, and the jobs of those that
// are still to be made: one in a closed lane would wait for ever.
func (tx *Tx) deleteDeliveries(condition string, args ...any) (int64, error) {
	_, err := tx.Exec(`
		DELETE FROM jobs
		WHERE id IN (SELECT job_id FROM deliveries WHERE `+condition+`) AND kind = 'deliver'`, args...)
	if err != nil {
		return 0, err
	}
	return tx.Exec(`DELETE FROM deliveries WHERE `+condition, args...)
}

// ofLiveSubscription leaves out deliveries of a deleted subscription: they will follow it.
const ofLiveSubscription = `(SELECT s.deleted_at FROM subscriptions s WHERE s.id = d.subscription_id) = 0`

// Delivery finds a delivery of an organization.
func (rx *Rx) Delivery(organization int64, id string) (Delivery, error) {
	return get[Delivery](rx, selectDeliveries+`WHERE d.id = ? AND d.organization_id = ? AND `+ofLiveSubscription, id, organization)
}

// DeliveryByID finds a delivery of any organization: for the operator.
func (rx *Rx) DeliveryByID(id string) (Delivery, error) {
	return get[Delivery](rx, selectDeliveries+`WHERE d.id = ? AND `+ofLiveSubscription, id)
}

// Payload is what a delivery carries, byte for byte.
func (rx *Rx) Payload(d Delivery) ([]byte, error) {
	return get[[]byte](rx, `SELECT payload FROM events WHERE id = ?`, d.Event)
}

// DeliveryFilter chooses deliveries. Zero fields choose everything; both times are strict.
type DeliveryFilter struct {
	SubscriptionID string
	Status         string
	EventType      string
	EventID        string
	CreatedAfter   Time
	CreatedBefore  Time
	Of             Accounts // those that the events belong to
}

// Deliveries lists an organization's deliveries, newest first, and says how far
// it came: to Last, unless the page was full or its time was up before.
//
// All filters but those by type and account have an index in the list's order. The one of
// subscriptions has the state before the time, so a list with only one of the two
// is put together out of a list for each value of the other.
func (rx *Rx) Deliveries(organization int64, f DeliveryFilter, after After, limit int) ([]Delivery, After, error) {
	after = after.Before(f.CreatedBefore)
	if f.EventType != "" || f.EventID != "" || f.Of.Bound() || f.SubscriptionID == "" && f.Status == "" {
		q := f.listQuery(organization)
		q.Filter(ofLiveSubscription, true)
		return sqlite.FindPage[Delivery](&rx.Rx, q, after, limit)
	}

	page, err := rx.deliveriesByState(organization, f, after, limit)
	return page, Last, err
}

// mergedAtOnce is of how many subscriptions the lists are read in one step.
const mergedAtOnce = 32

// deliveriesByState is Deliveries by a subscription or a state or both: the newest of the
// lists for each subscription and state. It pauses between subscriptions only: a
// delivery may change its state meanwhile, and must not be in two of the lists.
func (rx *Rx) deliveriesByState(organization int64, f DeliveryFilter, after After, limit int) (page []Delivery, err error) {
	var last Row
	for only := f.SubscriptionID; ; {
		some, err := rx.subscriptionRows(organization, only, last, mergedAtOnce)
		if err != nil {
			return nil, err
		}
		for _, last = range some {
			f.SubscriptionID = last.ID
			if page, err = rx.deliveriesOf(page, organization, f, after, limit); err != nil {
				return nil, err
			}
		}

		if len(some) < mergedAtOnce {
			return page, nil
		}
		if err := rx.Pause(); err != nil {
			return nil, err
		}
	}
}

func (rx *Rx) deliveriesOf(
	page []Delivery, organization int64, f DeliveryFilter, after After, limit int,
) (_ []Delivery, err error) {
	statuses := []string{f.Status}
	if f.Status == "" {
		statuses = []string{DeliveryPending, DeliverySucceeded, DeliveryFailed, DeliveryDead}
	}

	for _, f.Status = range statuses {
		if page, _, err = sqlite.MergePage(&rx.Rx, page, f.listQuery(organization), Delivery.key, after, limit); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// ListQuery lets one index find the deliveries: by event, subscription and state, or organization.
func (f DeliveryFilter) listQuery(organization int64) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns:  deliveryColumns,
		Table:    "deliveries d",
		Index:    "deliveries_of_organization",
		Key:      "d.created_at",
		ID:       "d.id",
		ScanTime: sqlite.BriefScanTime,
	}

	q.Since(f.CreatedAfter)
	event := f.EventID != ""
	exact := !event && f.SubscriptionID != "" && f.Status != ""
	switch {
	case event:
		q.Index = "deliveries_by_event_id"
	case exact:
		q.Index = "deliveries_of_subscription"
	}

	q.ByIndex("d.organization_id = ?", true, organization)
	q.ByIndex("d.event_id = ?", event, f.EventID)
	q.ByIndex("d.subscription_id = ?", exact, f.SubscriptionID)
	q.ByIndex("d.status = ?", exact, f.Status)

	q.Filter("d.subscription_id = ?", !exact && f.SubscriptionID != "", f.SubscriptionID)
	q.Filter("d.status = ?", !exact && f.Status != "", f.Status)
	q.Filter("d.event_type = ?", f.EventType != "", f.EventType)
	q.Filter(isAmong("(SELECT e.account_id FROM events e WHERE e.id = d.event)", "?"), f.Of.Bound(), idText(f.Of))

	return q
}

// subscriptionRows lists an organization's subscriptions after one, oldest first: all, or only the one with an id.
func (rx *Rx) subscriptionRows(organization int64, only string, after Row, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT created_at, id FROM subscriptions
		WHERE organization_id = ?1 AND deleted_at = 0 AND (created_at, id) > (?2, ?3) AND (?4 = '' OR id = ?4)
		ORDER BY created_at, id
		LIMIT ?5`, organization, after.At, after.ID, only, limit)
}

// Fields are where deliveryColumns go.
func (d *Delivery) Fields() []any {
	return []any{
		&d.ID, &d.OrganizationID, &d.SubscriptionID, &d.Event, &d.EventType, &d.EventID,
		&d.Status, &d.AttemptCount, &d.LastAttemptAt, &d.NextAttemptAt,
		&d.ResponseStatus, &d.ResponseBodySnippet, &d.DurationMS, &d.ErrorCode, &d.ErrorMessage, &d.ReplayedFrom, &d.CreatedAt, &d.JobID,
	}
}
