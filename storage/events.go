package storage

import "slices"

// KindDeliver is the kind of job that posts one delivery, with DeliverArgs; see deliveryLane.
const KindDeliver = "deliver"

// DeliverArgs name the delivery to be made.
type DeliverArgs struct{ AboutDelivery }

// Event is something that happened, rendered once: retries and replays send these bytes.
type Event struct {
	ID             string `db:"id"`
	OrganizationID int64  `db:"organization_id"`
	AccountID      *int64 `db:"account_id"`
	Type           string `db:"type"`
	Source         string `db:"source"`
	EventID        string `db:"event_id"` // what X-Svc-Event-Id carries
	Payload        []byte `db:"payload"`
	CreatedAt      Time   `db:"created_at"`

	// IsEnvelope is for a new one that is the provider's own: nobody who lists or follows events finds it.
	IsEnvelope bool `db:"-"`
}

const selectEvents = `SELECT id, organization_id, account_id, type, source, event_id, payload, created_at FROM events `

func (rx *Rx) event(id string) (Event, error) { return get[Event](rx, selectEvents+`WHERE id = ?`, id) }

// Events lists up to limit events of an organization, in the order of their commits.
func (rx *Rx) Events(organization int64, limit int) ([]Event, error) {
	return list[Event](rx, selectEvents+`INDEXED BY events_of_organization
		WHERE organization_id = ?
		ORDER BY seq
		LIMIT ?`, organization, limit)
}

// InsertEvent stores an event and a delivery for each subscription that wants it, or the job that will make
// those where there are many. phoneNumberID is that of its account, if it has one.
func (tx *Tx) InsertEvent(e Event, phoneNumberID string) error {
	if err := tx.insertEvent(e); err != nil {
		return err
	}

	to, err := tx.db.caches.subscribers.find(&tx.Rx, e.OrganizationID)
	if err != nil {
		return err
	}
	if len(to.all) > maxDirect || to.waiting {
		return tx.enqueueFanOut(e, phoneNumberID, to)
	}

	for _, s := range to.all {
		if !s.wantsEvent(e.Type, phoneNumberID) {
			continue
		}
		if err := tx.addDelivery(e, s); err != nil {
			return err
		}
	}
	return nil
}

// InsertEnvelope stores an envelope of the provider, with its id given, for subscriptions that want it.
func (tx *Tx) InsertEnvelope(e Event, to []NativeSubscriber) error {
	e.IsEnvelope = true
	if err := tx.insertEvent(e); err != nil {
		return err
	}
	for _, s := range to {
		if err := tx.addDelivery(e, s); err != nil {
			return err
		}
	}
	return nil
}

// NativeSubscriber is a subscription that receives the provider's own envelopes.
type NativeSubscriber = subscriber

// NativeSubscribers are those of an organization.
func (rx *Rx) NativeSubscribers(organization int64) ([]NativeSubscriber, error) {
	to, err := rx.db.caches.subscribers.find(rx, organization)
	return slices.DeleteFunc(slices.Clone(to.all), func(s subscriber) bool { return s.Format != FormatProvider }), err
}

// HasNativeSubscribers reports whether any organization has one. Callbacks ask for it.
func (rx *Rx) HasNativeSubscribers() (bool, error) { return rx.db.caches.natives.find(rx, struct{}{}) }

func (rx *Rx) readNatives(struct{}) (bool, error) {
	return rx.exists(`SELECT 1 FROM subscriptions WHERE format = 'provider' AND deleted_at = 0 LIMIT 1`)
}

// HasNativeSubscription reports whether an organization has one, in any state.
func (rx *Rx) HasNativeSubscription(organization int64) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM subscriptions
		WHERE organization_id = ? AND format = 'provider' AND deleted_at = 0 LIMIT 1`, organization)
}

// InsertEventFor stores an event, with its id given, for a single subscription, whatever that wants.
func (tx *Tx) InsertEventFor(e Event, subscription string) (Delivery, error) {
	if err := tx.insertEvent(e); err != nil {
		return Delivery{}, err
	}
	d := tx.newDelivery(e, subscription)
	return d, tx.InsertDelivery(&d, parcelOf(&d, e))
}

// insertEvent stores an event. The owner of an envelope is less than 0.
func (tx *Tx) insertEvent(e Event) error {
	owner := e.OrganizationID
	if e.IsEnvelope {
		owner = -owner
	} else {
		tx.signalEvents(owner)
	}
	return tx.Run(`
		INSERT INTO events (id, organization_id, account_id, type, source, event_id, created_at, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, e.ID, owner, e.AccountID, e.Type, e.Source, e.EventID, tx.Order, e.Payload)
}

func (tx *Tx) newDelivery(e Event, subscription string) Delivery {
	return Delivery{
		ID: tx.NewID(PrefixDelivery), OrganizationID: e.OrganizationID, SubscriptionID: subscription,
		Event: e.ID, EventType: e.Type, EventID: e.EventID,
	}
}

// addDelivery adds a delivery and its job; a dead one, to be replayed, if that is disabled.
func (tx *Tx) addDelivery(e Event, s subscriber) error {
	d := tx.newDelivery(e, s.ID)
	if s.Status == WebhookDisabled {
		return tx.insertDeadDelivery(d)
	}
	return tx.InsertDelivery(&d, parcelOf(&d, e))
}
