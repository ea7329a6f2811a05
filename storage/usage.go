package storage

// month is the calendar month of t in UTC, as 202611.
func month(t Time) int {
	std := t.Std()
	return std.Year()*100 + int(std.Month())
}

// usage names a count: an organization's messages of a month.
type usage struct {
	organization int64
	month        int
}

// tally counts the messages of one transaction, which many callers share, so
// that each count is written once for all of them.
type tally map[usage]int64

// write adds the counts to those that are stored.
func (t tally) write(s *session) error {
	for of, messages := range t {
		if messages == 0 {
			continue // taken back
		}
		_, err := s.exec(`
			INSERT INTO usage (organization_id, month, messages)
			VALUES (?, ?, ?)
			ON CONFLICT (organization_id, month) DO UPDATE SET messages = messages + excluded.messages`, of.organization, of.month, messages)
		if err != nil {
			return err
		}
	}
	return nil
}

// CountMessage counts one accepted message.
func (tx *Tx) CountMessage(organization int64) {
	counts, of := tx.db.writer.tally, usage{organization, month(tx.Now)}
	counts[of]++
	tx.OnUndo(func() { counts[of]-- })
}

// MessagesThisMonth is how many messages were accepted since the month began.
func (tx *Tx) MessagesThisMonth(organization int64) (int64, error) {
	of := usage{organization, month(tx.Now)}
	var stored []int64
	err := tx.list(&stored, `SELECT messages FROM usage WHERE organization_id = ? AND month = ?`, of.organization, of.month)
	if err != nil || len(stored) == 0 {
		return tx.db.writer.tally[of], err
	}
	return stored[0] + tx.db.writer.tally[of], nil
}
