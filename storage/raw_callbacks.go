package storage

import "errors"

// RawCallback is a callback of the provider that is kept as it came.
type RawCallback struct {
	ID        int64  `db:"id"`
	AccountID *int64 `db:"account_id"`
	Field     string `db:"field"`
	Reason    string `db:"reason"`
	Payload   []byte `db:"payload"`
	CreatedAt Time   `db:"created_at"`
}

// RawCallbacks lists up to limit kept callbacks, newest first.
func (rx *Rx) RawCallbacks(limit int) ([]RawCallback, error) {
	var all []RawCallback
	err := rx.list(&all, `
		SELECT id, account_id, field, reason, payload, created_at
		FROM raw_callbacks
		ORDER BY id DESC
		LIMIT ?`, limit)
	return all, err
}

// RawCallbacksSince lists what was kept of a field since a time, for a reason,
// oldest first.
func (rx *Rx) RawCallbacksSince(since Time, field, reason string) ([]RawCallback, error) {
	var all []RawCallback
	err := rx.list(&all, `
		SELECT id, account_id, field, reason, payload, created_at
		FROM raw_callbacks
		WHERE created_at >= ? AND field = ? AND reason = ?
		ORDER BY created_at, id`, since, field, reason)
	return all, err
}

// InsertRawCallback keeps a callback.
func (tx *Tx) InsertRawCallback(c RawCallback) error {
	_, err := tx.exec(`
		INSERT INTO raw_callbacks (account_id, field, reason, payload, created_at)
		VALUES (?, ?, ?, ?, ?)`, c.AccountID, c.Field, c.Reason, c.Payload, tx.Now)
	return err
}

// NumberWasRemoved tells whether a phone number id belonged to an account that
// was removed.
func (rx *Rx) NumberWasRemoved(phoneNumberID string) (bool, error) {
	var one int
	err := rx.get(&one, `SELECT 1 FROM accounts WHERE phone_number_id = ? AND deleted_at <> 0 LIMIT 1`, phoneNumberID)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
