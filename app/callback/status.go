package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// prepareStatus reads one delivery status. The event holds the callback with this
// status only, without our own message id and without other people.
func (s *Server) prepareStatus(f numberChange, raw json.RawMessage) step {
	status, err := provider.Read[provider.Status](raw)
	if err != nil || !isMessageID(status.ID) || status.Status == "" {
		return s.keepRaw(f.item(raw), "unreadable status")
	}

	_, people := f.findPeople(status.RecipientID, status.RecipientUserID)
	envelope := f.WithOneItem("statuses", provider.DeleteMember(raw, "biz_opaque_callback_data"), people)
	if envelope == nil {
		return s.keepRaw(f.item(raw), "nested too deep")
	}

	to := messaging.NewPerson(status.RecipientID, status.RecipientUserID, status.RecipientParentUserID)

	return s.onAccount(f, raw, func(tx *storage.Tx, account storage.Account) error {
		m, found, err := s.findReportedMessage(tx, account, status, to)
		if err != nil {
			return err
		}
		if !found { // it may come later
			first, err := tx.ParkStatus(account.ID, status.ID, status.Status, storage.JSON(envelope))
			if err == nil && !first {
				err = messaging.ErrRepeat
			}
			return err
		}

		if err := messaging.RecordRecipient(tx, account, &m, to); err != nil {
			return err
		}
		return messaging.ApplyStatus(tx, account, &m, status, envelope)
	})
}

// findReportedMessage finds the message of a status: by the provider's id, or by
// our own id that was sent along. The second way shows that the provider accepted
// a message although its answer to the send was lost.
func (s *Server) findReportedMessage(
	tx *storage.Tx, account storage.Account, status provider.Status, to messaging.Person,
) (m storage.Message, found bool, err error) {
	m, err = tx.ReportedMessage(account.ID, status.ID)
	if !errors.Is(err, storage.ErrNotFound) {
		return m, err == nil, err
	}

	// The tag may also be one of another send, or of a message that was deleted.
	if !storage.ValidID(storage.PrefixMessage, status.Tag) {
		return m, false, nil
	}
	m, err = tx.Message(account.ID, status.Tag)
	if err != nil || m.Direction != storage.Outbound || m.ProviderID != nil {
		return m, false, storage.IgnoreNotFound(err)
	}

	if err := s.Publisher.MarkAccepted(tx, account, m, status.ID, to); err != nil {
		return m, false, err
	}
	tx.AfterCommit(func() { s.Answers.Tell(m.ID, provider.Answer{}) })
	m, err = tx.Message(account.ID, m.ID)
	return m, err == nil, err
}
