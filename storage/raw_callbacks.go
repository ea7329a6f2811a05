package storage

// RawCallback is a callback of the provider that is kept as it came.
type RawCallback struct {
	ID            int64  `db:"id"`
	AccountID     *int64 `db:"account_id"`
	PhoneNumberID string `db:"phone_number_id"` // what it is about, "" where it does not say
	WABAID        string `db:"waba_id"`
	Field         string `db:"field"`
	Reason        string `db:"reason"`
	Payload       []byte `db:"payload"`
	CreatedAt     Time   `db:"created_at"`
}

const selectRawCallbacks = `
	SELECT id, account_id, coalesce(phone_number_id, '') AS phone_number_id, coalesce(waba_id, '') AS waba_id,
		field, reason, payload, created_at
	FROM raw_callbacks `

// RawCallbacks lists up to limit kept callbacks, newest first.
func (rx *Rx) RawCallbacks(limit int) ([]RawCallback, error) {
	return list[RawCallback](rx, selectRawCallbacks+`ORDER BY id DESC LIMIT ?`, limit)
}

// RawCallbacksSince lists what was kept of a field since a time, for a reason, oldest first.
func (rx *Rx) RawCallbacksSince(since Time, field, reason string) ([]RawCallback, error) {
	return list[RawCallback](rx, selectRawCallbacks+`
		WHERE created_at >= ? AND field = ? AND reason = ?
		ORDER BY created_at, id`, since, field, reason)
}

// InsertRawCallback keeps a callback.
func (tx *Tx) InsertRawCallback(c RawCallback) error {
	return tx.Run(`
		INSERT INTO raw_callbacks (account_id, phone_number_id, waba_id, field, reason, payload, created_at)
		VALUES (?, nullif(?, ''), nullif(?, ''), ?, ?, ?, ?)`, c.AccountID, c.PhoneNumberID, c.WABAID, c.Field, c.Reason, c.Payload, tx.Now)
}

// WasRemoved reports whether a callback is about what was removed: an account with
// this phone number id, or, where it names no number, all that the business
// account had here. No live account has the number.
func (rx *Rx) WasRemoved(phoneNumberID, wabaID string) (bool, error) {
	if phoneNumberID != "" {
		return rx.exists(`SELECT 1 FROM accounts WHERE phone_number_id = ? AND deleted_at <> 0 LIMIT 1`, phoneNumberID)
	}

	if live, err := rx.exists(`SELECT 1 FROM accounts WHERE waba_id = ? AND deleted_at = 0 LIMIT 1`, wabaID); err != nil || live {
		return false, err
	}
	return rx.exists(`SELECT 1 FROM accounts WHERE waba_id = ? AND deleted_at <> 0 LIMIT 1`, wabaID)
}
