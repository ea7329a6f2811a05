package storage

import (
	"cmp"
	"fmt"
	"time"
)

// IdempotencyWindow is how long an answer is remembered.
const IdempotencyWindow = 24 * time.Hour

// IdempotentReply is a finished reply to a request that carried an Idempotency-Key.
type IdempotentReply struct {
	Fingerprint []byte `db:"fingerprint"`
	Status      int    `db:"status"`
	RequestID   string `db:"request_id"`
	Body        []byte `db:"body"`
	Sealed      bool   `db:"sealed"`
	CreatedAt   Time   `db:"created_at"`

	AccountID *int64 `db:"account_id"` // whose data the answer shows, nil for the organization's own
}

func answerPurpose(organization int64, key string) string {
	return fmt.Sprintf("answer to %d %s", organization, key)
}

// IdempotentReply finds what was answered to a key within the window. To a clock that leapt ahead, no
// answer is old: a client that asks again after a restart would have its message sent twice.
func (rx *Rx) IdempotentReply(organization int64, key string) (IdempotentReply, error) {
	a, err := get[IdempotentReply](rx, `
		SELECT fingerprint, status, request_id, body, sealed, created_at, account_id
		FROM idempotency
		WHERE organization_id = ? AND key = ?`, organization, key)
	if err != nil {
		return a, err
	}

	if a.CreatedAt <= rx.db.Now().Add(-IdempotencyWindow) {
		c, err := rx.Clock()
		if err != nil || c.Ahead() == 0 {
			return IdempotentReply{}, cmp.Or(err, ErrNotFound)
		}
	}
	if a.Sealed {
		a.Body, err = rx.db.Unseal(answerPurpose(organization, key), a.Body)
	}
	return a, err
}

// SaveIdempotentReply remembers an answer in the transaction that gives it. A sealed one
// is encrypted, because it shows a secret that must not be readable later.
func (tx *Tx) SaveIdempotentReply(organization int64, key string, a IdempotentReply) error {
	if a.Sealed {
		a.Body = tx.db.Seal(answerPurpose(organization, key), a.Body)
	}

	return tx.Run(`
		INSERT OR REPLACE INTO idempotency (organization_id, key, account_id, fingerprint, status, request_id, body, sealed, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		organization, key, a.AccountID, a.Fingerprint, a.Status, a.RequestID, a.Body, a.Sealed, tx.Now)
}

// DeleteOldIdempotentReplies forgets up to limit answers whose window is over at now.
func (tx *Tx) DeleteOldIdempotentReplies(now Time, limit int) (int64, error) {
	return tx.deleteSome("idempotency", "organization_id, key", "created_at <= ? ORDER BY created_at",
		now.Add(-IdempotencyWindow), limit)
}
