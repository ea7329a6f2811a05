package storage

import "errors"

// UserPasskey is a passkey by which a user signs in.
type UserPasskey struct {
	ID           string `db:"id"`
	UserID       string `db:"user_id"`
	CredentialID []byte `db:"credential_id"` // by which the browser names it
	Host         string `db:"host"`          // the only one for which browsers use it
	Name         string `db:"name"`
	CreatedAt    Time   `db:"created_at"`
	LastUsedAt   Time   `db:"last_used_at"`
	Sealed       []byte `db:"credential"`
}

func passkeyPurpose(id string) string { return "passkey " + id }

const selectPasskeys = `SELECT id, user_id, credential_id, host, name, created_at, last_used_at, credential FROM user_passkeys `

// UserPasskeys lists the passkeys of a user, oldest first.
func (rx *Rx) UserPasskeys(user string) ([]UserPasskey, error) {
	return list[UserPasskey](rx, selectPasskeys+`WHERE user_id = ? ORDER BY id`, user)
}

// UserPasskey finds a passkey of a user.
func (rx *Rx) UserPasskey(user, id string) (UserPasskey, error) {
	return get[UserPasskey](rx, selectPasskeys+`WHERE id = ? AND user_id = ?`, id, user)
}

// PasskeyCredential is the credential of a passkey, as InsertUserPasskey got it.
func (rx *Rx) PasskeyCredential(p UserPasskey) ([]byte, error) {
	return rx.db.Unseal(passkeyPurpose(p.ID), p.Sealed)
}

// InsertUserPasskey stores a new passkey. ErrFactorExists means that somebody has it already.
func (tx *Tx) InsertUserPasskey(p *UserPasskey, credential []byte) error {
	p.ID, p.CreatedAt = tx.NewID(PrefixPasskey), tx.Now
	p.Sealed = tx.db.Seal(passkeyPurpose(p.ID), credential)
	err := tx.InsertRow("user_passkeys", "id, user_id, credential_id, host, name, created_at, credential", p)
	if errors.Is(err, ErrConflict) {
		return ErrFactorExists
	}
	return tx.hint(err, HintUser, Scope{}, p.UserID)
}

// UsePasskey records that a user signed in by a passkey, with what its credential is then.
func (tx *Tx) UsePasskey(p UserPasskey, credential []byte) error {
	return tx.ExecOne(`
		UPDATE user_passkeys
		SET credential = ?, last_used_at = ?
		WHERE id = ?`, tx.db.Seal(passkeyPurpose(p.ID), credential), tx.Now, p.ID)
}

// RenameUserPasskey gives a passkey of a user another name.
func (tx *Tx) RenameUserPasskey(user, id, name string) error {
	return tx.updateUser(user, `UPDATE user_passkeys SET name = ? WHERE id = ? AND user_id = ?`, name, id, user)
}

// DeleteUserPasskey takes a passkey of a user away.
func (tx *Tx) DeleteUserPasskey(user, id string) error {
	if err := tx.ExecOne(`DELETE FROM user_passkeys WHERE id = ? AND user_id = ?`, id, user); err != nil {
		return err
	}
	return tx.afterFactorRemoved(user)
}
