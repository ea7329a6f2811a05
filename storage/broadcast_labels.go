package storage

// The audience of a label is stored in steps after the broadcast was made, as it was then:
// who gets or loses the label meanwhile, new contacts too, is recorded in
// broadcast_label_changes, with what was so before. No time decides that: the clock may be set.

// CopyLabeled stores up to limit more contacts of a broadcast's label; true when all are stored.
func (tx *Tx) CopyLabeled(b *Broadcast, limit int) (done bool, err error) {
	next, err := tx.LabeledContacts(b.AccountID, *b.LabelID, Row{At: b.CopiedAt, ID: b.CopiedID}, limit)
	if err != nil {
		return false, err
	}

	ids := make([]string, len(next))
	for i, c := range next {
		ids[i], b.CopiedAt, b.CopiedID = c.ID, c.At, c.ID
	}
	const hadIt = `NOT EXISTS (SELECT 1 FROM broadcast_label_changes WHERE broadcast = ?2 AND contact_id = c.id AND had = 0)`
	if err := tx.addContacts(b.Number, ids, hadIt); err != nil {
		return false, err
	}
	err = tx.ExecOne(`UPDATE broadcasts SET copied_at = ?, copied_id = ? WHERE number = ?`, b.CopiedAt, b.CopiedID, b.Number)
	if err != nil || len(next) == limit {
		return false, err
	}
	return tx.copyUnlabeled(b.Number, limit)
}

// LabeledContacts lists up to limit contacts with a label after one, the oldest first.
func (rx *Rx) LabeledContacts(account int64, label string, after Row, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT contact_created_at AS created_at, contact_id AS id
		FROM contact_labels INDEXED BY contact_labels_by_label
		WHERE label_id = ?1 AND account_id = ?2 AND (contact_created_at, contact_id) > (?3, ?4)
		ORDER BY contact_created_at, contact_id
		LIMIT ?5`, label, account, after.At, after.ID, limit)
}

// copyUnlabeled stores contacts that lost the label before they were reached.
func (tx *Tx) copyUnlabeled(broadcast int64, limit int) (done bool, err error) {
	ids, err := list[string](&tx.Rx, `
		DELETE FROM broadcast_label_changes
		WHERE broadcast = ?1 AND contact_id IN (SELECT contact_id FROM broadcast_label_changes WHERE broadcast = ?1 AND had = 1 LIMIT ?2)
		RETURNING contact_id`, broadcast, limit)
	if err != nil {
		return false, err
	}

	err = tx.addContacts(broadcast, ids, `NOT EXISTS (SELECT 1 FROM broadcast_recipients WHERE contact_id = c.id AND broadcast = ?2)`)
	if err != nil || len(ids) == limit {
		return false, err
	}
	n, err := tx.deleteSome("broadcast_label_changes", "broadcast, contact_id", "broadcast = ?", broadcast, limit)
	return n < int64(limit), err
}

// addContacts adds those contacts as recipients that are still there and meet a condition.
func (tx *Tx) addContacts(broadcast int64, ids []string, condition string) error {
	left, err := list[string](&tx.Rx, `
		SELECT c.id FROM json_each(?1) wanted JOIN contacts c ON c.id = wanted.value
		WHERE `+condition, jsonList(ids), broadcast)
	if err != nil || len(left) == 0 {
		return err
	}

	all := make([]BroadcastRecipient, len(left))
	for i := range left {
		all[i].ContactID = &left[i]
	}
	return tx.AddRecipients(broadcast, all)
}

// recordLabelChange records for broadcasts whose audience is being read whether contacts had the label
// before its first change. contacts is a query of their ids, of the label ?2 and an argument ?3.
func (tx *Tx) recordLabelChange(label string, had bool, contacts string, arg any) error {
	some, err := tx.exists(`SELECT 1 FROM broadcasts WHERE prepared = 0 AND label_id = ? LIMIT 1`, label)
	if err != nil || !some {
		return err // as almost always
	}

	return tx.Run(`
		INSERT OR IGNORE INTO broadcast_label_changes (broadcast, contact_id, had)
		SELECT b.number, c.id, ?1
		FROM broadcasts b JOIN contacts c ON c.account_id = b.account_id
		WHERE b.prepared = 0 AND b.label_id = ?2 AND b.status <> 'making' AND c.id IN (`+contacts+`)`, had, label, arg)
}

// moveBroadcastRecipient makes one contact of two in the broadcasts to which they belong.
func (tx *Tx) moveBroadcastRecipient(into, from string) error {
	err := tx.Run(`
		INSERT OR REPLACE INTO broadcast_label_changes (broadcast, contact_id, had)
		SELECT b.number, ?1, 1
		FROM contact_labels l JOIN broadcasts b ON b.label_id = l.label_id AND b.account_id = l.account_id
		WHERE l.contact_id = ?2 AND b.prepared = 0 AND b.status <> 'making'
			AND NOT EXISTS (SELECT 1 FROM broadcast_label_changes WHERE broadcast = b.number AND contact_id = ?2 AND had = 0)`, into, from)
	if err != nil {
		return err
	}
	return tx.Run(`UPDATE broadcast_recipients SET contact_id = ? WHERE contact_id = ?`, into, from)
}
