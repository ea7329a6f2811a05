package messaging

import (
	"encoding/json"
	"errors"

	"confab/jobs/provider"
	"confab/storage"
)

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

// applyParked applies one parked callback. One that does not fit the direction of
// the message is dropped.
func applyParked(tx *storage.Tx, a storage.Account, m *storage.Message, payload storage.JSON) error {
	var parked parkedChange
	if err := json.Unmarshal(payload, &parked); err == nil && parked.Change != nil {
		if parked.Change.Direction != m.Direction {
			return nil
		}
		return parked.Change.Apply(tx, a, m)
	}

	status, ok := parseStatus(payload)
	if !ok || m.Direction != storage.Outbound {
		return nil // unreadable ones do not happen: they were read before they were parked
	}

	to := NewPerson(status.RecipientID, status.RecipientUserID, status.RecipientParentUserID)
	if err := RecordRecipient(tx, a, m, to); err != nil {
		return err
	}
	return ApplyStatus(tx, a, m, status, payload)
}

// parseStatus reads the one status of a reduced envelope, which is in our words.
func parseStatus(envelope []byte) (provider.Status, bool) {
	var callback provider.Callback
	err := json.Unmarshal(envelope, &callback)
	if err != nil || len(callback.Entries) != 1 || len(callback.Entries[0].Changes) != 1 {
		return provider.Status{}, false
	}

	value, err := provider.Read[provider.Value](callback.Entries[0].Changes[0].Value)
	if err != nil || len(value.Statuses) != 1 {
		return provider.Status{}, false
	}

	status, err := provider.Read[provider.Status](value.Statuses[0])
	return status, err == nil
}
