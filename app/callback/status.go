package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// prepareStatus applies one delivery status of a number. Of its envelope our own id
// is left out, and people whom it is not about.
func (s *Server) prepareStatus(f numberChange, raw json.RawMessage) step {
	status, err := provider.Read[provider.Status](raw)
	if err != nil || !isMessageID(status.ID) || status.Status == "" {
		return s.keepRaw(f.item(raw), "unreadable status")
	}
	_, people := f.findPeople(status.RecipientID, status.RecipientUserID)
	envelope := f.Narrow("statuses", provider.Without(raw, "biz_opaque_callback_data"), people)
	if envelope == nil {
		return s.keepRaw(f.item(raw), "nested too deep")
	}
	return func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}
		m, err := s.findReportedMessage(tx, account, status)
		if errors.Is(err, storage.ErrNotFound) {
			_, err := tx.ParkStatus(account.ID, status.ID, status.Status, storage.JSON(envelope))
			return err
		}
		if err != nil {
			return err
		}
		if err := recordBSUID(tx, account, &m, status); err != nil {
			return err
		}
		return jobs.ApplyStatus(tx, account, &m, status, envelope)
	}
}

// recordBSUID notes the id of somebody whom we wrote to by number, or by the parent's
// id. Who has an id keeps it: a status may be about a message of long ago.
func recordBSUID(tx *storage.Tx, a storage.Account, m *storage.Message, status provider.Status) error {
	who := newPerson("", status.RecipientUserID, status.RecipientParentUserID)
	if who.bsuid == "" || m.ContactBSUID != nil {
		return nil
	}
	t, err := tx.Thread(a.ID, m.ContactID)
	if err != nil {
		return err
	}
	others, err := who.findContacts(tx, a.ID)
	if err != nil {
		return err
	}
	if t, err = reconcile(tx, a, who, union([]storage.Thread{t}, others), tx.Now); err != nil {
		return err
	}
	m.ContactID, m.ConversationID, m.ContactBSUID = t.ID, t.ConversationID, t.BSUID
	return nil
}

// findReportedMessage finds the message of a status: by the provider's id, or by our own
// that the send gave along. The second settles a send whose answer was lost.
func (s *Server) findReportedMessage(tx *storage.Tx, account storage.Account, status provider.Status) (storage.Message, error) {
	m, err := tx.ReportedMessage(account.ID, status.ID)
	if !errors.Is(err, storage.ErrNotFound) || !storage.ValidID(storage.PrefixMessage, status.Tag) {
		return m, err
	}
	m, err = tx.Message(account.ID, status.Tag)
	if err != nil {
		return m, err
	}
	if m.Direction != storage.Outbound || m.ProviderID != nil {
		return m, storage.ErrNotFound // somebody else's tag
	}
	if err := s.Host.Settle(tx, m.ID, status.ID); err != nil {
		return m, err
	}
	return tx.Message(account.ID, m.ID)
}
