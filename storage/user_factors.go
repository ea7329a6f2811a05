package storage

import (
	"crypto/sha256"
	"errors"
)

// ErrFactorExists means that the user has this factor already.
var ErrFactorExists = errors.New("there is such a factor already")

// UserCodes are the one-time codes of a user, which an app on its phone makes.
type UserCodes struct {
	UserID     string `db:"user_id"`
	LastStep   int64  `db:"last_step"` // the latest of whose codes was accepted
	CreatedAt  Time   `db:"created_at"`
	LastUsedAt Time   `db:"last_used_at"`
	Sealed     []byte `db:"secret"`
}

func codesPurpose(user string) string { return "one-time codes " + user }

// UserCodes finds the one-time codes of a user.
func (rx *Rx) UserCodes(user string) (UserCodes, error) {
	return get[UserCodes](rx, `
		SELECT user_id, last_step, created_at, last_used_at, secret
		FROM user_codes
		WHERE user_id = ?`, user)
}

// CodeSecret is the secret of a user's one-time codes.
func (rx *Rx) CodeSecret(c UserCodes) (string, error) {
	secret, err := rx.db.Unseal(codesPurpose(c.UserID), c.Sealed)
	return string(secret), err
}

// InsertUserCodes gives a user one-time codes. The code of the step has shown that the
// app has the secret, and is not accepted again. ErrFactorExists means that the user has some.
func (tx *Tx) InsertUserCodes(user, secret string, step int64) error {
	_, err := tx.Exec(`
		INSERT INTO user_codes (user_id, secret, last_step, created_at)
		VALUES (?, ?, ?, ?)`, user, tx.db.Seal(codesPurpose(user), []byte(secret)), step, tx.Now)
	if errors.Is(err, ErrConflict) {
		return ErrFactorExists
	}
	return tx.hint(err, HintUser, Scope{}, user)
}

// UseCodeStep records that a step's code was accepted. ErrNotFound: that or a later one was.
func (tx *Tx) UseCodeStep(user string, step int64) error {
	return tx.ExecOne(`
		UPDATE user_codes
		SET last_step = ?, last_used_at = ?
		WHERE user_id = ? AND last_step < ?`, step, tx.Now, user, step)
}

// DeleteUserCodes takes the one-time codes of a user away.
func (tx *Tx) DeleteUserCodes(user string) error {
	if err := tx.ExecOne(`DELETE FROM user_codes WHERE user_id = ?`, user); err != nil {
		return err
	}
	return tx.afterFactorRemoved(user)
}

// afterFactorRemoved takes the recovery codes of a user away who has no factor any more.
func (tx *Tx) afterFactorRemoved(user string) error {
	u, err := tx.UserByID(user)
	if err == nil && !u.HasFactor() {
		_, err = tx.Exec(`DELETE FROM user_recovery_codes WHERE user_id = ?`, user)
	}
	return tx.hint(err, HintUser, Scope{}, user)
}

// recoveryHash is the stored form of a recovery code: long and random, it needs no slow hash.
func recoveryHash(user, code string) []byte {
	sum := sha256.Sum256([]byte(user + " " + code))
	return sum[:]
}

// ReplaceRecoveryCodes gives a user new recovery codes. The old ones end.
func (tx *Tx) ReplaceRecoveryCodes(user string, codes []string) error {
	if err := tx.Run(`DELETE FROM user_recovery_codes WHERE user_id = ?`, user); err != nil {
		return err
	}
	for _, code := range codes {
		if err := tx.Run(`INSERT INTO user_recovery_codes (user_id, code_hash) VALUES (?, ?)`, user, recoveryHash(user, code)); err != nil {
			return err
		}
	}
	return tx.hint(nil, HintUser, Scope{}, user)
}

// CountRecoveryCodes counts the recovery codes that a user has left.
func (rx *Rx) CountRecoveryCodes(user string) (int, error) {
	return get[int](rx, `SELECT count(*) FROM user_recovery_codes WHERE user_id = ?`, user)
}

// UseRecoveryCode uses up a recovery code of a user. ErrNotFound means that it has no such.
func (tx *Tx) UseRecoveryCode(user, code string) error {
	return tx.ExecOne(`DELETE FROM user_recovery_codes WHERE user_id = ? AND code_hash = ?`, user, recoveryHash(user, code))
}

// DeleteUserFactors takes all second factors of a user away, and ends its sessions.
func (tx *Tx) DeleteUserFactors(user string) error {
	for _, statement := range []string{
		`DELETE FROM user_codes WHERE user_id = ?`,
		`DELETE FROM user_passkeys WHERE user_id = ?`,
		`DELETE FROM user_recovery_codes WHERE user_id = ?`,
	} {
		if err := tx.Run(statement, user); err != nil {
			return err
		}
	}
	_, err := tx.DeleteUserSessions(user, "")
	return err
}
