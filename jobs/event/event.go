// Package event is the catalogue of public events: what each looks like, and how
// it is stored and passed on to subscriptions.
//
// An event is rendered once, when it is emitted: every attempt, retry and replay
// sends the same bytes under the same id. Native events have an envelope of our
// own; those of source "provider" have the provider's, as its callback brought it.
package event

import (
	"bytes"
	"cmp"
	"encoding/json"

	"confab/storage"
)

// Sources of events.
const (
	sourceProvider = "provider"
	sourceNative   = "svc"
)

// Subject is whom an event is about: an organization, and one of its accounts.
type Subject struct {
	Organization  int64
	Account       int64  // 0 for an event that belongs to no number
	PhoneNumberID string // of the account
}

type nativeEnvelope struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	CreatedAt storage.Time `json:"created_at"`
	Data      any          `json:"data"`
}

// Event is something that happened, not stored yet.
type Event struct {
	subject  Subject
	kind     string
	source   string // "" for a native one
	eventID  string // "" for the event's own id
	data     any    // of the native envelope
	envelope []byte // ready to be sent: the provider's, or what somebody wrote in the place of a sample
}

// Emit renders the event and stores it with the rest of the transaction, with a
// delivery and its job for each subscription that wants it. If there are many
// subscriptions, a job of the kind webhook.fan_out makes those later.
func (e Event) Emit(tx *storage.Tx) error {
	row, err := e.render(tx.NewID(storage.PrefixEvent), tx.Order)
	if err != nil {
		return err
	}
	return tx.InsertEvent(row, e.subject.PhoneNumberID)
}

// EmitOnlyTo stores the event for one subscription only, even if that does not want
// such events, and returns its delivery.
func (e Event) EmitOnlyTo(tx *storage.Tx, subscription string) (storage.Delivery, error) {
	row, err := e.render(tx.NewID(storage.PrefixEvent), tx.Order)
	if err != nil {
		return storage.Delivery{}, err
	}
	return tx.InsertEventFor(row, subscription)
}

// Payload is what the event would carry, under an id.
func (e Event) Payload(id string, now storage.Time) ([]byte, error) {
	row, err := e.render(id, now)
	return row.Payload, err
}

// WithPayload is the event with another payload, for trying out an endpoint.
func (e Event) WithPayload(payload []byte) Event {
	e.envelope = payload
	return e
}

// render makes the row of the event, with the bytes that are sent.
func (e Event) render(id string, now storage.Time) (storage.Event, error) {
	row := storage.Event{
		ID:             id,
		OrganizationID: e.subject.Organization,
		AccountID:      storage.OrNil(e.subject.Account),
		Type:           e.kind,
		Source:         cmp.Or(e.source, sourceNative),
		EventID:        cmp.Or(e.eventID, id),
		Payload:        e.envelope,
	}

	var err error
	if e.source == "" && e.envelope == nil {
		row.Payload, err = encode(nativeEnvelope{ID: row.EventID, Type: e.kind, CreatedAt: now, Data: e.data})
	}
	return row, err
}

// encode writes JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)

	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
