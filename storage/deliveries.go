package storage

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
	ID                  string  `db:"id"`
	OrganizationID      int64   `db:"organization_id"`
	SubscriptionID      string  `db:"subscription_id"`
	Event               string  `db:"event"` // the stored event
	EventType           string  `db:"event_type"`
	EventID             string  `db:"event_id"` // what X-Svc-Event-Id carries
	Status              string  `db:"status"`
	AttemptCount        int     `db:"attempt_count"`
	LastAttemptAt       Time    `db:"last_attempt_at"`
	NextAttemptAt       Time    `db:"next_attempt_at"`
	ResponseStatus      *int    `db:"response_status"`
	ResponseBodySnippet *string `db:"response_body_snippet"`
	DurationMS          *int64  `db:"duration_ms"`
	ErrorCode           *string `db:"error_code"`
	ErrorMessage        *string `db:"error_message"`
	ReplayedFrom        *string `db:"replayed_from"`
	CreatedAt           Time    `db:"created_at"`
	JobID               int64   `db:"job_id"`
}

// InsertDelivery stores a delivery that is to be made now, with its job; the id
// is given.
func (tx *Tx) InsertDelivery(d *Delivery) error {
	job, err := tx.Enqueue(NewJob{Kind: KindDeliver, Lane: deliveryLane(d.SubscriptionID), Args: DeliverArgs{Delivery: d.ID}})
	if err != nil {
		return err
	}
	d.Status, d.NextAttemptAt, d.CreatedAt, d.JobID = DeliveryPending, tx.Now, tx.Now, job
	_, err = tx.exec(`
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, next_attempt_at, replayed_from, created_at, job_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.OrganizationID, d.SubscriptionID, d.Event, d.EventType, d.EventID, d.Status, d.NextAttemptAt, d.ReplayedFrom, d.CreatedAt, d.JobID)
	return err
}

// insertDead stores a delivery that nobody may make, so that it can be replayed.
func (tx *Tx) insertDead(d Delivery) error {
	_, err := tx.exec(`
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, error_code, error_message, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 'dead', ?, ?, ?)`,
		d.ID, d.OrganizationID, d.SubscriptionID, d.Event, d.EventType, d.EventID, codeDisabled, messageDisabled, tx.Now)
	return err
}
