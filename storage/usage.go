package storage

import "confab/storage/sqlite"

// month is the calendar month of t in UTC, as 202611.
func month(t Time) int {
	std := t.Std()
	return std.Year()*100 + int(std.Month())
}

type usageKey struct {
	organization int64
	month        int
}

func storeUsage(wx *sqlite.Wx, of usageKey, messages int64) error {
	return wx.Run(`
		INSERT INTO usage (organization_id, month, messages)
		VALUES (?, ?, ?)
		ON CONFLICT (organization_id, month) DO UPDATE SET messages = messages + excluded.messages`,
		of.organization, of.month, messages)
}

// CountMessage counts one accepted message.
func (tx *Tx) CountMessage(organization int64) {
	counts, of := tx.db.pending.usage, usageKey{organization, month(tx.Now)}
	counts.set(tx, of, counts.changes[of]+1)
}

// MessagesThisMonth is how many messages were accepted since the month began.
func (tx *Tx) MessagesThisMonth(organization int64) (int64, error) {
	of := usageKey{organization, month(tx.Now)}
	pending := tx.db.pending.usage.changes[of] // counted in this transaction, by anybody
	stored, err := tx.StoredUsage(organization, tx.Now)
	return stored + pending, err
}

// StoredUsage is how many messages of the month of a time were accepted, if committed.
func (rx *Rx) StoredUsage(organization int64, at Time) (int64, error) {
	return get[int64](rx, `
		SELECT coalesce(sum(messages), 0)
		FROM usage
		WHERE organization_id = ? AND month = ?`, organization, month(at))
}
