package storage

import "time"

// ParkStatus keeps a callback that came before its message; false for one that is kept already.
func (tx *Tx) ParkStatus(account int64, providerID, status string, payload JSON) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO parked_statuses (account_id, provider_id, status, payload, created_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, account, providerID, status, payload, tx.Now)
	return n > 0, err
}

// TakeParkedStatuses removes and returns the callbacks that waited for a
// provider's id, oldest first. Statuses that came together are in the order in
// which a message passes them.
func (tx *Tx) TakeParkedStatuses(account int64, providerID string) ([]JSON, error) {
	some, err := tx.db.caches.parked.find(&tx.Rx, struct{}{})
	if err != nil || !some {
		return nil, err
	}

	var payloads []JSON
	err = tx.List(&payloads, `
		SELECT payload FROM parked_statuses
		WHERE account_id = ? AND provider_id = ?
		ORDER BY created_at, CASE status WHEN 'sent' THEN 1 WHEN 'delivered' THEN 2 WHEN 'read' THEN 3 ELSE 4 END`, account, providerID)
	if err != nil || len(payloads) == 0 {
		return nil, err
	}

	_, err = tx.Exec(`DELETE FROM parked_statuses WHERE account_id = ? AND provider_id = ?`, account, providerID)
	return payloads, err
}

// readParked reports whether any callback is parked. That is rare: most messages ask no further.
func (rx *Rx) readParked(struct{}) (bool, error) {
	return rx.exists(`SELECT 1 FROM parked_statuses WHERE created_at > 0 LIMIT 1`)
}

const parkedFor = 24 * time.Hour

// DropParkedStatuses deletes up to limit callbacks that have waited long enough in vain.
func (tx *Tx) DropParkedStatuses(now Time, limit int) (int64, error) {
	return tx.deleteSome("parked_statuses", "account_id, provider_id, status", "created_at <= ? ORDER BY created_at",
		now.Add(-parkedFor), limit)
}
