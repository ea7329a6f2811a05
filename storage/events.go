package storage

// KindDeliver is the kind of job that posts one delivery; its arguments are
// DeliverArgs and its lane is the subscription.
const KindDeliver = "deliver"

// DeliverArgs name the delivery to be made.
type DeliverArgs struct{ AboutDelivery }

// Event is something that happened, rendered once: retries and replays send
// these bytes.
type Event struct {
	ID             string `db:"id"`
	OrganizationID int64  `db:"organization_id"`
	AccountID      *int64 `db:"account_id"`
	Type           string `db:"type"`
	Source         string `db:"source"`
	EventID        string `db:"event_id"` // what X-Svc-Event-Id carries
	Payload        []byte `db:"payload"`
	CreatedAt      Time   `db:"created_at"`
}

// event finds a stored event.
func (rx *Rx) event(id string) (Event, error) {
	return get[Event](rx, `
		SELECT id, organization_id, account_id, type, source, event_id, payload, created_at
		FROM events
		WHERE id = ?`, id)
}

// Events lists up to limit events of an organization, in the order of their commits.
func (rx *Rx) Events(organization int64, limit int) ([]Event, error) {
	return list[Event](rx, `
		SELECT id, organization_id, account_id, type, source, event_id, payload, created_at
		FROM events INDEXED BY events_of_organization
		WHERE organization_id = ?
		ORDER BY seq
		LIMIT ?`, organization, limit)
}

// InsertEvent stores an event, with its id given, and puts one delivery for each
// subscription that wants it into the outbox, or the job that will do so where there
// are many (see maxDirect). phoneNumberID is that of the account it belongs to, if it
// does.
func (tx *Tx) InsertEvent(e Event, phoneNumberID string) error {
	if err := tx.insertEvent(e); err != nil {
		return err
	}

	to, err := tx.db.caches.subscribers.find(&tx.Rx, e.OrganizationID)
	if err != nil {
		return err
	}
	if to.byJob() {
		return tx.enqueueFanOut(e, phoneNumberID, to)
	}

	for _, s := range to.all {
		if !s.wants(e.Type, phoneNumberID) {
			continue
		}
		if err := tx.addDelivery(e, s); err != nil {
			return err
		}
	}
	return nil
}

// InsertEventFor stores an event, with its id given, for a single subscription.
func (tx *Tx) InsertEventFor(e Event, subscription string) (Delivery, error) {
	if err := tx.insertEvent(e); err != nil {
		return Delivery{}, err
	}

	d := Delivery{
		ID: tx.NewID(PrefixDelivery), OrganizationID: e.OrganizationID, SubscriptionID: subscription,
		Event: e.ID, EventType: e.Type, EventID: e.EventID,
	}
	return d, tx.insertDelivery(&d, parcelOf(&d, e))
}

func (tx *Tx) insertEvent(e Event) error {
	tx.signalEvents(e.OrganizationID)
	_, err := tx.Exec(`
		INSERT INTO events (id, organization_id, account_id, type, source, event_id, created_at, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, e.ID, e.OrganizationID, e.AccountID, e.Type, e.Source, e.EventID, tx.Order, e.Payload)
	return err
}

// addDelivery adds a delivery and its job. For a disabled subscription it is
// stored as dead, so that it can be replayed.
func (tx *Tx) addDelivery(e Event, s subscriber) error {
	d := Delivery{
		ID: tx.NewID(PrefixDelivery), OrganizationID: e.OrganizationID, SubscriptionID: s.ID,
		Event: e.ID, EventType: e.Type, EventID: e.EventID,
	}

	if s.Status == WebhookDisabled {
		return tx.insertDeadDelivery(d)
	}
	return tx.insertDelivery(&d, parcelOf(&d, e))
}
