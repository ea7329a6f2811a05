package storage

// month is the calendar month of t in UTC, as 202611.
func month(t Time) int {
	std := t.Std()
	return std.Year()*100 + int(std.Month())
}

// CountMessage counts one accepted message.
func (tx *Tx) CountMessage(organization int64) error {
	_, err := tx.exec(`
		INSERT INTO usage (organization_id, month, messages)
		VALUES (?, ?, 1)
		ON CONFLICT (organization_id, month) DO UPDATE SET messages = messages + 1`, organization, month(tx.Now))
	return err
}

// MessagesThisMonth is how many messages were accepted since the month began.
func (rx *Rx) MessagesThisMonth(organization int64) (int64, error) {
	var n []int64
	err := rx.list(&n, `SELECT messages FROM usage WHERE organization_id = ? AND month = ?`, organization, month(Now()))
	if err != nil || len(n) == 0 {
		return 0, err
	}
	return n[0], nil
}
