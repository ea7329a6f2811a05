package storage

import "confab/storage/sqlite"

// month is the calendar month of t in UTC, as 202611.
func month(t Time) int {
	std := t.Std()
	return std.Year()*100 + int(std.Month())
}

// usageKey names a count: an organization's messages of a month.
type usageKey struct {
	organization int64
	month        int
}

// usageCounts are the messages that were accepted in one transaction. Many
// callers share it, so that each count is written once for all of them.
type usageCounts map[usageKey]int64

// write adds the counts to those that are stored.
func (c usageCounts) write(s *sqlite.Wx) error {
	for of, messages := range c {
		if messages == 0 {
			continue // all of them were taken back
		}

		_, err := s.Exec(`
			INSERT INTO usage (organization_id, month, messages)
			VALUES (?, ?, ?)
			ON CONFLICT (organization_id, month) DO UPDATE SET messages = messages + excluded.messages`,
			of.organization, of.month, messages)
		if err != nil {
			return err
		}
	}
	return nil
}

// CountMessage counts one accepted message.
func (tx *Tx) CountMessage(organization int64) {
	counts, of := tx.db.pending.usage, usageKey{organization, month(tx.Now)}
	counts[of]++
	tx.OnUndo(func() { counts[of]-- })
}

// MessagesThisMonth is how many messages were accepted since the month began.
func (tx *Tx) MessagesThisMonth(organization int64) (int64, error) {
	of := usageKey{organization, month(tx.Now)}
	pending := tx.db.pending.usage[of] // counted in this transaction, by anybody
	stored, err := tx.StoredUsage(organization, tx.Now)
	return stored + pending, err
}

// StoredUsage is how many messages were accepted in the month of a time, as far as that
// is committed.
func (rx *Rx) StoredUsage(organization int64, at Time) (int64, error) {
	return get[int64](rx, `
		SELECT coalesce(sum(messages), 0)
		FROM usage
		WHERE organization_id = ? AND month = ?`, organization, month(at))
}
