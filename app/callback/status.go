package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// takeStatus applies one delivery status of a number.
func takeStatus(waba string, change provider.Change, number string, raw json.RawMessage) step {
	alone := provider.Change{Field: change.Field, Value: raw}
	status, err := provider.Read[provider.Status](raw)
	if err != nil || status.ID == "" || status.Status == "" {
		return func(tx *storage.Tx) error { return keepRaw(tx, alone, "unreadable status") }
	}
	envelope, err := narrow(waba, change, raw)
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
		m, err := matchStatus(tx, account, status)
		if errors.Is(err, storage.ErrNotFound) {
			_, err := tx.ParkStatus(account.ID, status.ID, status.Status, storage.JSON(envelope))
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
func matchStatus(tx *storage.Tx, account storage.Account, status provider.Status) (storage.Message, error) {
	m, err := tx.MessageByProviderID(account.ID, status.ID)
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
	if err := jobs.Settle(tx, m.ID, status.ID); err != nil {
		return m, err
	}
	return tx.Message(account.ID, m.ID)
}

// narrow makes the envelope of one status out of the callback that held it: in
// our own dialect, unknown keys kept, our id removed.
func narrow(waba string, change provider.Change, raw json.RawMessage) ([]byte, error) {
	var value, status map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(change.Value, &value), json.Unmarshal(raw, &status)); err != nil {
		return nil, err
	}
	delete(status, "biz_opaque_callback_data")
	one, err := json.Marshal([]any{status})
	if err != nil {
		return nil, err
	}
	value["statuses"] = one
	envelope, err := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": []any{map[string]any{
		"id": waba, "changes": []any{map[string]any{"field": change.Field, "value": value}},
	}}})
	if err != nil {
		return nil, err
	}
	return provider.FromProvider(envelope)
}
