package storage

// RemoveAccount makes an account a tombstone: its number is free, and its rows wait to be purged.
func (tx *Tx) RemoveAccount(account int64, reason string) error {
	return tx.updateAccount(account, `
		UPDATE accounts
		SET status = 'disconnected', status_reason = ?, updated_at = ?, deleted_at = ?
		WHERE id = ? AND deleted_at = 0`, reason, tx.Order, tx.Now, account)
}

// Tombstone is the row that remains of a removed account.
type Tombstone struct {
	Account
	DeletedAt Time `db:"deleted_at"`
	Shared    bool `db:"shared"` // a live account has the same business account
	HasToken  bool `db:"has_token"`
}

// Tombstone finds a removed account.
func (rx *Rx) Tombstone(account int64) (Tombstone, error) {
	return get[Tombstone](rx, `
		SELECT `+accountColumns+`, deleted_at, access_token IS NOT NULL AS has_token,
			EXISTS (SELECT 1 FROM accounts o WHERE o.waba_id = a.waba_id AND o.deleted_at = 0) AS shared
		FROM accounts a
		WHERE a.id = ? AND a.deleted_at > 0`, account)
}

// ForgetSecrets takes a removed account's token and PIN away.
func (tx *Tx) ForgetSecrets(account int64) error {
	return tx.Run(`
		UPDATE accounts
		SET access_token = NULL, pin = NULL
		WHERE id = ? AND deleted_at > 0`, account)
}

// PurgeMessages deletes up to limit messages of an account, then its other rows table by
// table. It returns how many rows went, fewer than limit when none is left.
//
// Messages go before the conversations and contacts that hold them, so that no single
// delete takes thousands of rows along; media goes when no message names it.
func (tx *Tx) PurgeMessages(account int64, limit int) (total int64, err error) {
	tx.countDeletion()

	const ofBroadcasts = "broadcast IN (SELECT number FROM broadcasts WHERE account_id = ?)"
	for _, rows := range []struct{ table, key, which string }{
		{"messages", "number", "account_id = ? ORDER BY id"},
		{"notes", "id", "conversation_id IN (SELECT id FROM conversations WHERE account_id = ?)"},
		{"rule_firings", "id", "conversation_id IN (SELECT id FROM conversations WHERE account_id = ?)"},
		{"conversations", "id", "account_id = ? ORDER BY updated_at, id"},
		{"contacts", "id", "account_id = ? ORDER BY created_at, id"},
		{"parked_statuses", "account_id, provider_id, status", "account_id = ?"},
		{"templates", "id", "account_id = ? ORDER BY created_at, id"},
		{"media_uploads", "media_id, account_id", "account_id = ?"},
		{"gateway_media", "account_id, id", "account_id = ?"},
		{"broadcast_recipients", "broadcast, number", ofBroadcasts},
		{"broadcast_label_changes", "broadcast, contact_id", ofBroadcasts},
		{"broadcasts", "number", "account_id = ?"},
		{"idempotency", "organization_id, key", "account_id = ?"},
		{"contact_imports", "id", "account_id = ? ORDER BY id"},
		{"views", "id", "account_id = ?"},
		{"spells", "account_id, opened_at, number", "account_id = ?"},
		{"number_settings", "account_id", "account_id = ?"},
		{"message_hours", "account_id, hour", "account_id = ?"},
		{"message_failures", "account_id, hour, error_code, provider_code", "account_id = ?"},
		{"message_costs", "account_id, day, category, prefix, broadcast", "account_id = ?"},
	} {
		n, err := tx.deleteSome(rows.table, rows.key, rows.which, account, limit-int(total))
		total += n
		if err != nil || total >= int64(limit) {
			return total, err
		}
	}
	return total, nil
}

// PurgeEvents deletes up to limit events of an account with their deliveries and jobs.
func (tx *Tx) PurgeEvents(account int64, limit int) (int64, error) {
	const which = `account_id = ? ORDER BY seq`
	if _, err := tx.deleteDeliveries(`event IN (SELECT id FROM events WHERE `+which+` LIMIT ?)`, account, limit); err != nil {
		return 0, err
	}
	return tx.deleteSome("events", "id", which, account, limit)
}

// FileUse is a row that named a file, and since when.
type FileUse struct {
	SHA256    string `db:"sha256"`
	CreatedAt Time   `db:"created_at"`
}

// PurgeMedia deletes up to limit rows of an account's media, and returns what files they named.
func (tx *Tx) PurgeMedia(account int64, limit int) ([]FileUse, error) {
	return list[FileUse](&tx.Rx, `
		DELETE FROM media
		WHERE id IN (SELECT id FROM media WHERE account_id = ? ORDER BY created_at, id LIMIT ?)
		RETURNING sha256, created_at`, account, limit)
}

// RawCallbacksOfAccount lists up to limit kept callbacks, from one id on, that
// are about a removed account: those that came for it, those about its number
// while that had no owner, and those about its business account when it was the
// last of that. One that could not be parsed goes with the last account that it
// names.
func (rx *Rx) RawCallbacksOfAccount(t Tombstone, after int64, limit int) ([]int64, error) {
	return rx.FindIDs("raw_callbacks r", after, limit, `
		account_id = ?4 OR account_id IS NULL AND (
			phone_number_id = ?5
			OR phone_number_id IS NULL AND waba_id = ?6 AND NOT ?7
			OR phone_number_id IS NULL AND waba_id IS NULL AND (`+payloadHolds("?5")+` OR `+payloadHolds("?6")+`)
				AND NOT EXISTS (SELECT 1 FROM accounts o WHERE o.deleted_at = 0
					AND (`+payloadHolds("o.phone_number_id")+` OR `+payloadHolds("o.waba_id")+`)))`,
		t.ID, t.PhoneNumberID, t.WABAID, t.Shared)
}

// payloadHolds is the condition that an id appears, in quotes, in a kept callback.
func payloadHolds(id string) string {
	return `coalesce(instr(r.payload, CAST('"' || ` + id + ` || '"' AS BLOB)), 0) > 0`
}

// PurgeRawCallbacks deletes kept callbacks.
func (tx *Tx) PurgeRawCallbacks(ids []int64) error {
	return tx.Run(`DELETE FROM raw_callbacks WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
}
