package storage

// UserByIdentity finds the user to whom an account at the identity provider is bound.
func (rx *Rx) UserByIdentity(issuer, subject string) (User, error) {
	u, err := get[User](rx, selectUsers+`
		JOIN user_identities b ON b.user_id = u.id
		WHERE b.issuer = ? AND b.subject = ?`, issuer, subject)
	if err != nil {
		return User{}, err // sqlx leaves empty texts in it
	}
	return u, nil
}

// BindIdentity binds an account at the identity provider. ErrConflict means one is bound already.
func (tx *Tx) BindIdentity(user, issuer, subject string) error {
	_, err := tx.Exec(`
		INSERT INTO user_identities (issuer, subject, user_id, created_at)
		VALUES (?, ?, ?, ?)`, issuer, subject, user, tx.Now)
	return tx.hint(err, HintUser, Scope{}, user)
}

// UnbindIdentities takes a user's accounts at identity providers away, and counts them.
func (tx *Tx) UnbindIdentities(user string) (int64, error) {
	n, err := tx.Exec(`DELETE FROM user_identities WHERE user_id = ?`, user)
	return n, tx.hint(err, HintUser, Scope{}, user)
}
