package messaging

import (
	"encoding/json"

	"confab/jobs/event"
	"confab/storage"
)

// Change is an edit or a deletion of a message, as a callback reports it. It is
// stored in this form while its message is not there yet.
type Change struct {
	ID        string       `json:"id"`             // the provider's, of the change itself
	Original  string       `json:"original"`       // the provider's id of the message
	Direction string       `json:"direction"`      // of the message: everybody changes only their own
	At        storage.Time `json:"at"`             // when it happened
	Edit      *Edit        `json:"edit,omitempty"` // nil for a deletion
}

// Edit is what a message becomes.
type Edit struct {
	Type    string       `json:"type"`
	Content storage.JSON `json:"content"`
	Body    *string      `json:"body"`
}

// parkedChange distinguishes a parked change from a parked status, which is an
// envelope of the provider.
type parkedChange struct {
	Change *Change `json:"change"`
}

// Park stores the change until its message arrives.
func (c Change) Park(tx *storage.Tx, account int64) error {
	payload, err := json.Marshal(parkedChange{&c})
	if err != nil {
		return err
	}
	first, err := tx.ParkStatus(account, c.Original, "change "+c.ID, payload)
	if err == nil && !first {
		err = ErrRepeat
	}
	return err
}

// Apply makes the change, unless it was made before, and emits its event if the
// contact made it. What the business changes on its phone is only recorded.
func (c Change) Apply(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	if c.Edit != nil {
		return c.edit(tx, a, m)
	}

	first, err := tx.MarkRevoked(m)
	if err == nil && !first {
		err = ErrRepeat
	}
	if err != nil || c.Direction != storage.Inbound {
		return err
	}
	return event.MessageRevoked(SubjectOf(a), *m, c.At).Emit(tx)
}

// edit gives the message its new content and stores the version before.
func (c Change) edit(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	earlier, err := tx.MessageEdits(*m)
	if err != nil {
		return err
	}

	for _, version := range earlier {
		if version.ProviderID == c.ID {
			return ErrRepeat
		}
	}

	before := storage.MessageEdit{
		Version:    len(earlier) + 1,
		Content:    m.Content,
		Body:       m.Body,
		EditedAt:   c.At,
		ProviderID: c.ID,
	}
	m.Type, m.Content, m.Body = c.Edit.Type, c.Edit.Content, c.Edit.Body
	if err := tx.EditMessage(m, before); err != nil || c.Direction != storage.Inbound {
		return err
	}
	return event.MessageEdited(SubjectOf(a), *m, append(earlier, before)).Emit(tx)
}
