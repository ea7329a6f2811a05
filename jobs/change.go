package jobs

import (
	"encoding/json"

	"confab/jobs/event"
	"confab/storage"
)

// Change is an edit or a deletion of a message, as the provider reports it, and
// as it is parked while its message is not there.
type Change struct {
	ID        string       `json:"id"`             // the provider's, of the change itself
	Original  string       `json:"original"`       // the provider's id of the message
	Direction string       `json:"direction"`      // people change what they wrote, the business what it wrote
	At        storage.Time `json:"at"`             // when it happened
	Edit      *Edit        `json:"edit,omitempty"` // nil for a deletion
}

// Edit is what a message becomes.
type Edit struct {
	Type    string       `json:"type"`
	Content storage.JSON `json:"content"`
	Body    *string      `json:"body"`
}

// parkedChange sets a change off from the envelope that a parked status is.
type parkedChange struct {
	Change *Change `json:"change"`
}

// Park keeps the change until its message turns up.
func (c Change) Park(tx *storage.Tx, account int64) error {
	payload, err := json.Marshal(parkedChange{&c})
	if err != nil {
		return err
	}
	_, err = tx.ParkStatus(account, c.Original, "change "+c.ID, payload)
	return err
}

// Apply makes the change, once, and tells of it if a person made it: what the
// business does on its phone is only recorded.
func (c Change) Apply(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	if c.Edit != nil {
		return c.edit(tx, a, m)
	}
	first, err := tx.MarkRevoked(m)
	if err != nil || !first || c.Direction != storage.Inbound {
		return err
	}
	return event.MessageRevoked(SubjectOf(a), *m, c.At).Emit(tx)
}

// edit gives the message another content and keeps the one before.
func (c Change) edit(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	earlier, err := tx.MessageEdits(m.ID)
	if err != nil {
		return err
	}
	for _, version := range earlier {
		if version.ProviderID == c.ID {
			return nil // it came before
		}
	}
	before := storage.MessageEdit{Version: len(earlier) + 1, Content: m.Content, Body: m.Body, EditedAt: c.At, ProviderID: c.ID}
	m.Type, m.Content, m.Body = c.Edit.Type, c.Edit.Content, c.Edit.Body
	if err := tx.EditMessage(m, before); err != nil || c.Direction != storage.Inbound {
		return err
	}
	return event.MessageEdited(SubjectOf(a), *m, append(earlier, before)).Emit(tx)
}

// ApplyParked applies the callbacks about a message that came before it was here,
// or before the provider's id of it was known.
func ApplyParked(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	parked, err := tx.TakeParkedStatuses(m.AccountID, *m.ProviderID)
	if err != nil || len(parked) == 0 {
		return err // as almost always
	}
	if *m, err = tx.Message(m.AccountID, m.ID); err != nil {
		return err
	}
	for _, payload := range parked {
		if err := applyParked(tx, a, m, payload); err != nil {
			return err
		}
	}
	return nil
}

// applyParked applies one of them, unless it cannot be about such a message.
func applyParked(tx *storage.Tx, a storage.Account, m *storage.Message, payload storage.JSON) error {
	var parked parkedChange
	if err := json.Unmarshal(payload, &parked); err == nil && parked.Change != nil {
		if parked.Change.Direction != m.Direction {
			return nil
		}
		return parked.Change.Apply(tx, a, m)
	}
	status, ok := statusIn(payload)
	if !ok || m.Direction != storage.Outbound {
		return nil // only what was read before is ever parked
	}
	return ApplyStatus(tx, a, m, status, payload)
}
