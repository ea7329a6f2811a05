package storage

import "time"

// KeptBodies is how long the bodies of a call are kept.
const KeptBodies = 24 * time.Hour

// CallBodies are what a call sent and was answered, or its beginning, with secrets masked.
type CallBodies struct {
	AccountID     *int64 `db:"account_id"` // of the number in the path
	Request       string `db:"request"`    // "" for none
	RequestBytes  int    `db:"request_bytes"`
	Response      string `db:"response"`
	ResponseBytes int    `db:"response_bytes"`
}

// CallBodies finds the bodies of an organization's call while they are kept.
func (rx *Rx) CallBodies(organization int64, requestID string) (CallBodies, error) {
	return get[CallBodies](rx, `
		SELECT account_id, request, request_bytes, response, response_bytes
		FROM api_log_bodies
		WHERE id = ? AND organization_id = ? AND created_at > ?`, requestID, organization, rx.db.Now().Add(-KeptBodies))
}

func (tx *Tx) insertBodies(c APICall) error {
	b := c.Bodies
	if b == nil || c.OrganizationID == nil {
		return nil
	}

	// Those of a number that was removed meanwhile would stay after it.
	return tx.Run(`
		INSERT INTO api_log_bodies (id, organization_id, account_id, request, request_bytes, response, response_bytes, created_at)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
		WHERE ?3 IS NULL OR EXISTS (SELECT 1 FROM accounts WHERE id = ?3 AND deleted_at = 0)`,
		c.RequestID, c.OrganizationID, b.AccountID, b.Request, b.RequestBytes, b.Response, b.ResponseBytes, c.CreatedAt)
}
