package storage

import (
	"confab/storage/sqlite"
)

// SetupLink is a link through which a customer connects a number of its own.
type SetupLink struct {
	ID                 string  `db:"id"`
	CustomerID         string  `db:"customer_id"`
	TokenHash          []byte  `db:"token_hash"`
	TokenLast4         string  `db:"token_last4"`
	Status             string  `db:"status"`
	SuccessRedirectURL *string `db:"success_redirect_url"`
	FailureRedirectURL *string `db:"failure_redirect_url"`
	AccountID          *int64  `db:"account_id"`     // what its last signup connects or has connected
	FailureReason      *string `db:"failure_reason"` // why that signup came to nothing
	ExpiresAt          Time    `db:"expires_at"`
	ConsumedAt         Time    `db:"consumed_at"`
	CreatedAt          Time    `db:"created_at"`
}

// States of a setup link. That it has expired is not stored.
const (
	LinkActive   = "active"
	LinkConsumed = "consumed"
	LinkExpired  = "expired"
	LinkRevoked  = "revoked"
)

// State is the state of a link at a time.
func (l SetupLink) State(now Time) string {
	if l.Status == LinkActive && l.ExpiresAt <= now {
		return LinkExpired
	}
	return l.Status
}

const setupTokenSize = 18

const linkColumns = `l.id, l.customer_id, l.token_hash, l.token_last4, l.status,
	l.success_redirect_url, l.failure_redirect_url, l.account_id, l.failure_reason, l.expires_at, l.consumed_at, l.created_at`

// SetupLink finds a link of a customer.
func (rx *Rx) SetupLink(customer, id string) (SetupLink, error) {
	return get[SetupLink](rx, `SELECT `+linkColumns+` FROM setup_links l WHERE l.id = ? AND l.customer_id = ?`, id, customer)
}

// SetupLinks lists a customer's links, newest first.
func (rx *Rx) SetupLinks(customer string, after After, limit int) ([]SetupLink, error) {
	return sqlite.ReadRows[SetupLink](&rx.Rx, `
		SELECT `+linkColumns+`
		FROM setup_links l
		WHERE l.customer_id = ? AND (l.created_at, l.id) < (?, ?)
		ORDER BY l.created_at DESC, l.id DESC
		LIMIT ?`, customer, after.Key, after.ID, limit)
}

// InsertSetupLink stores a new link, and returns its token, which cannot be read again.
func (tx *Tx) InsertSetupLink(l *SetupLink) (token string, err error) {
	token = PrefixSetupLink + randomText(setupTokenSize)
	hash := TokenHash(token)
	l.ID, l.Status, l.CreatedAt = tx.NewID(PrefixSetupLink), LinkActive, tx.Order
	l.TokenHash, l.TokenLast4 = hash[:], token[len(token)-4:]

	return token, tx.InsertRow("setup_links",
		"id, customer_id, token_hash, token_last4, status, success_redirect_url, failure_redirect_url, expires_at, created_at", l)
}

// UpdateSetupLink stores where l leads its visitors.
func (tx *Tx) UpdateSetupLink(l SetupLink) error {
	return tx.UpdateRow("setup_links", "success_redirect_url, failure_redirect_url", "id", l)
}

// RevokeSetupLink makes an active link useless.
func (tx *Tx) RevokeSetupLink(l *SetupLink) error {
	l.Status = LinkRevoked
	return tx.ExecOne(`
		UPDATE setup_links
		SET status = ?
		WHERE id = ? AND status = 'active'`, l.Status, l.ID)
}
