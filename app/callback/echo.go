package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// prepareEchoes reads echoes: the messages that the business sent from its phone.
func (s *Server) prepareEchoes(n provider.CallbackChange) []piece {
	return s.prepareEach(n, "message_echoes", func(f numberChange) []json.RawMessage { return f.value.Echoes },
		func(f numberChange, raw json.RawMessage) step { return s.prepareMessage(f, raw, storage.Outbound) })
}

// prepareEcho reads one echo. The person in it is the recipient.
func (s *Server) prepareEcho(f numberChange, m provider.Message, raw json.RawMessage) step {
	profiles, _ := f.findPeople(m.To, m.ToUserID)
	to := messaging.NewPerson(m.To, m.ToUserID, m.ToParentUserID).WithProfiles(profiles)
	if to.IsUnknown() {
		return s.keepRaw(f.item(raw), "unknown recipient")
	}

	c, err := readContent(raw, m.Type)
	if err != nil || f.TooDeep(raw) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}
	c.fileLost = c.fileLost || c.fileID != "" && isFileUnavailable(m)
	in := incoming{Message: m, content: c, context: readContext(m, raw), person: to}

	return s.onAccount(f, raw, func(tx *storage.Tx, a storage.Account) error { return s.storeEcho(tx, a, in) })
}

// storeEcho stores a message that the business sent, unless it is stored already,
// with the contact and the conversation that it needs.
func (s *Server) storeEcho(tx *storage.Tx, a storage.Account, in incoming) error {
	switch _, err := tx.MessageByProviderID(a.ID, in.ID); {
	case err == nil:
		return messaging.ErrRepeat
	case !errors.Is(err, storage.ErrNotFound):
		return err
	}

	found, err := in.person.FindContacts(tx, a.ID)
	if err != nil {
		return err
	}
	t, err := messaging.EnsureContact(tx, a, in.person, found, eventTime(in.Timestamp, tx.Now))
	if err != nil {
		return err
	}

	m := in.row(a, t, tx.Now)
	m.Direction, m.Status = storage.Outbound, storage.MessageSent
	if m.PhoneNumber == nil {
		m.Recipient = t.BSUID
	}

	if err := tx.InsertMessage(&m); err != nil {
		return err
	}
	if err := tx.MarkMessageWritten(t.ConversationID, m.Type, m.Source); err != nil {
		return err
	}

	if m.Type != "reaction" {
		err := messaging.TakeHold(tx, messaging.SubjectOf(a), event.By{Type: event.ByUser}, t.ConversationID, messaging.User(nil))
		if err != nil {
			return err
		}
	}
	if err := s.publishOrFetch(tx, a, t, m, in); err != nil {
		return err
	}
	return messaging.ApplyParkedCallbacks(tx, a, &m)
}
