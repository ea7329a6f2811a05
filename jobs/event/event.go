// Package event is the catalogue of public events: what each looks like, and how
// it is stored and fanned out.
package event

import (
	"bytes"
	"encoding/json"

	"confab/storage"
)

// Where an event comes from.
const (
	sourceProvider = "provider"
	sourceNative   = "svc"
)

// Subject is whom an event concerns: an organization, and of it an account.
type Subject struct {
	Organization  int64
	Account       int64  // 0 for an event that belongs to no number
	PhoneNumberID string // of the account
}

// Event is something that happened, not stored yet.
type Event struct {
	subject  Subject
	kind     string
	source   string
	eventID  string // "" for the event's own id
	data     any    // of the native envelope
	envelope []byte // of the provider, ready to be sent
}

// Emit renders the event, stores it with the rest of the transaction and puts a
// delivery for each subscription that wants it into the outbox.
func (e Event) Emit(tx *storage.Tx) error {
	row, err := e.render(tx.NewID(storage.PrefixEvent), tx.Now)
	if err != nil {
		return err
	}
	return tx.InsertEvent(row, e.subject.PhoneNumberID)
}

// EmitTo stores the event for one subscription alone, whatever that wants, and
// returns its delivery.
func (e Event) EmitTo(tx *storage.Tx, subscription string) (storage.Delivery, error) {
	row, err := e.render(tx.NewID(storage.PrefixEvent), tx.Now)
	if err != nil {
		return storage.Delivery{}, err
	}
	return tx.InsertEventFor(row, subscription)
}

// render makes the row of the event: its bytes, once and for all.
func (e Event) render(id string, now storage.Time) (storage.Event, error) {
	row := storage.Event{ID: id, OrganizationID: e.subject.Organization, Type: e.kind, Source: e.source, EventID: e.eventID, Payload: e.envelope}
	if e.subject.Account != 0 {
		row.AccountID = &e.subject.Account
	}
	if row.EventID == "" {
		row.EventID = row.ID
	}
	var err error
	if e.source == sourceNative {
		row.Payload, err = encode(nativeEnvelope{ID: row.EventID, Type: e.kind, CreatedAt: now, Data: e.data})
	}
	return row, err
}

// encode writes JSON without the escapes that only matter inside of HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
