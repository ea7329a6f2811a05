package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// takeStatus applies one delivery status of a number.
func (s *Server) takeStatus(around frame, number string, raw json.RawMessage) step {
	alone := provider.Change{Field: around.field, Value: raw}
	status, err := provider.Read[provider.Status](raw)
	if err != nil || status.ID == "" || status.Status == "" {
		return func(tx *storage.Tx) error { return keepRaw(tx, alone, "unreadable status") }
	}
	envelope, err := around.narrow(status, raw)
	if err != nil {
		return func(tx *storage.Tx) error { return keepRaw(tx, alone, "unreadable status") }
	}
	return func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(number)
		if errors.Is(err, storage.ErrNotFound) {
			return keepRaw(tx, alone, "unknown number")
		}
		if err != nil {
			return err
		}
		m, err := s.matchStatus(tx, account, status)
		if errors.Is(err, storage.ErrNotFound) {
			_, err := tx.ParkStatus(account.ID, status.ID, status.Status, storage.JSON(envelope))
			if err != nil && !errors.Is(err, storage.ErrUnavailable) {
				return keepRaw(tx, alone, "unreadable status") // JSON that is too deep for the database
			}
			return err
		}
		if err != nil {
			return err
		}
		return jobs.ApplyStatus(tx, account, &m, status, envelope)
	}
}

// matchStatus finds the message of a status: by the provider's id, or by our own
// that the send gave along. The second settles a send whose answer was lost.
func (s *Server) matchStatus(tx *storage.Tx, account storage.Account, status provider.Status) (storage.Message, error) {
	m, err := tx.MessageByProviderID(account.ID, status.ID)
	if err == nil && m.Direction != storage.Outbound {
		return m, storage.ErrNotFound // statuses are about what we sent
	}
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
