package storage

// updateAccount runs a statement that changes what consoles show of one account.
func (tx *Tx) updateAccount(account int64, query string, args ...any) error {
	return tx.hint(tx.ExecOne(query, args...), HintAccount, Scope{Account: account}, "")
}

// MarkAccountStatus moves an account to a state, for a reason that people can read, if any.
func (tx *Tx) MarkAccountStatus(account int64, status, reason string) error {
	return tx.updateAccount(account, `
		UPDATE accounts
		SET status = ?, status_reason = nullif(?, ''), updated_at = ?
		WHERE id = ?`, status, reason, tx.Order, account)
}

// MarkDegraded records that an account cannot be used, unless it is disconnected.
func (tx *Tx) MarkDegraded(account int64, reason string) error {
	_, err := tx.Exec(`
		UPDATE accounts
		SET status = 'degraded', status_reason = ?, updated_at = ?
		WHERE id = ? AND status <> 'disconnected'`, reason, tx.Order, account)
	return tx.hint(err, HintAccount, Scope{Account: account}, "")
}

// SetRestricted records whether the provider restricts an account.
func (tx *Tx) SetRestricted(account int64, restricted bool) error {
	return tx.updateAccount(account, `UPDATE accounts SET restricted = ?, updated_at = ? WHERE id = ?`, restricted, tx.Order, account)
}

// SetCooldown makes an account's messages wait until a time, replacing any earlier time:
// that may be from a clock that was ahead.
func (tx *Tx) SetCooldown(account int64, until Time) error {
	return tx.updateAccount(account, `UPDATE accounts SET cooldown_until = ? WHERE id = ?`, until, account)
}

// EndCooldown ends the cooldown that lasts until a time, unless a later one has begun.
func (tx *Tx) EndCooldown(account int64, until Time) error {
	err := tx.Run(`UPDATE accounts SET cooldown_until = 0 WHERE id = ? AND cooldown_until = ?`, account, until)
	return tx.hint(err, HintAccount, Scope{Account: account}, "")
}

// UpdateAccount stores what the provider reports about a number, and the state that follows.
func (tx *Tx) UpdateAccount(a *AccountDetail) error {
	a.UpdatedAt = tx.Order
	if a.Status == AccountConnected && a.OnboardedAt == 0 {
		a.OnboardedAt = tx.Now
	}

	const changeable = "waba_id, phone_number, name, status, status_reason, provider_status, restricted, onboarded_at, updated_at"
	return tx.hint(tx.UpdateRow("accounts", changeable, "id", a), HintAccount, Scope{Account: a.ID}, "")
}

// RenameAccount stores the name that people see beside the number.
func (tx *Tx) RenameAccount(account int64, name string) error {
	return tx.updateAccount(account, `UPDATE accounts SET name = ?, updated_at = ? WHERE id = ?`, name, tx.Order, account)
}

// MarkAccountChecked records when the provider was last asked about an account.
func (tx *Tx) MarkAccountChecked(account int64) error {
	return tx.updateAccount(account, `UPDATE accounts SET checked_at = ? WHERE id = ?`, tx.Now, account)
}

// SetAccessToken replaces the account's token for the provider, sealed.
func (tx *Tx) SetAccessToken(a Account, token string) error {
	return tx.ExecOne(`UPDATE accounts SET access_token = ? WHERE id = ?`, tx.db.Seal(tokenPurpose(a.PublicID), []byte(token)), a.ID)
}

// SetPIN keeps the number's PIN, sealed.
func (tx *Tx) SetPIN(a Account, pin string) error {
	return tx.ExecOne(`UPDATE accounts SET pin = ? WHERE id = ?`, tx.db.Seal(pinPurpose(a.PublicID), []byte(pin)), a.ID)
}

// DeletePIN forgets a PIN that is no longer the number's.
func (tx *Tx) DeletePIN(account int64) error {
	return tx.ExecOne(`UPDATE accounts SET pin = NULL WHERE id = ?`, account)
}

func pinPurpose(account string) string { return "PIN of " + account }
