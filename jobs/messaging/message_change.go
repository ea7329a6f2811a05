package messaging

import (
	"encoding/json"
	"errors"
	"slices"

	"confab/jobs/event"
	"confab/jobs/provider"
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

// parkedChange distinguishes a parked change from a parked status, an envelope.
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

	if slices.ContainsFunc(earlier, func(version storage.MessageEdit) bool { return version.ProviderID == c.ID }) {
		return ErrRepeat
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

// ApplyParkedCallbacks applies callbacks that arrived before their message was stored, or
// before the provider's id of it was known.
func ApplyParkedCallbacks(tx *storage.Tx, a storage.Account, m *storage.Message) error {
	parked, err := tx.TakeParkedStatuses(m.AccountID, *m.ProviderID)
	if err != nil || len(parked) == 0 {
		return err // as almost always
	}

	if *m, err = tx.Message(m.AccountID, m.ID); err != nil {
		return err
	}

	for _, payload := range parked {
		if err := applyParked(tx, a, m, payload); err != nil && !errors.Is(err, ErrRepeat) {
			return err
		}
	}
	return nil
}

// applyParked applies one parked callback, unless it does not fit the message's direction.
func applyParked(tx *storage.Tx, a storage.Account, m *storage.Message, payload storage.JSON) error {
	var parked parkedChange
	if err := json.Unmarshal(payload, &parked); err == nil && parked.Change != nil {
		if parked.Change.Direction != m.Direction {
			return nil
		}
		return parked.Change.Apply(tx, a, m)
	}

	status, ok := ReadStatus(payload)
	if !ok || m.Direction != storage.Outbound {
		return nil // unreadable ones do not happen: they were read before they were parked
	}

	to := NewPerson(status.RecipientID, status.RecipientUserID, status.RecipientParentUserID)
	if err := RecordRecipient(tx, a, m, to); err != nil {
		return err
	}
	return ApplyStatus(tx, a, m, status, payload)
}

// ReadStatus reads the one status of a reduced envelope, which is in our words.
func ReadStatus(envelope []byte) (provider.Status, bool) {
	var callback struct {
		Entry [1]struct {
			Changes [1]struct {
				Value struct {
					Statuses []provider.Status `json:"statuses"`
				} `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	err := json.Unmarshal(envelope, &callback)
	statuses := callback.Entry[0].Changes[0].Value.Statuses
	if err != nil || len(statuses) != 1 {
		return provider.Status{}, false
	}
	return statuses[0], true
}
