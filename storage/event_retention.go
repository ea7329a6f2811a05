package storage

import "slices"

// OldEvents lists those from before a time among the next events of an organization, and of one of its
// accounts if that is given. It looks at up to limit: they lie in the order of their age.
func (rx *Rx) OldEvents(p PurgeScope, after Row, limit int) ([]Row, error) {
	index, whose := "events_of_organization", "?3 = 0"
	if p.Account != 0 {
		index, whose = "events_of_account", "account_id = ?3"
	}

	rows, err := list[Row](rx, `
		SELECT created_at, id, seq FROM events INDEXED BY `+index+`
		WHERE organization_id = ?1 AND seq > ?2 AND `+whose+`
		ORDER BY seq
		LIMIT ?4`, p.Organization, after.Seq, p.Account, limit)
	return slices.DeleteFunc(rows, func(r Row) bool { return r.At >= p.Before }), err
}

// DeleteEvents deletes the deliveries of an organization's events that were made before a
// time, and the events that have none left: a replay may be younger than its event. It
// notes how far events were removed. Deliveries that are still to be made go only with
// unfinished, and their jobs with them. It returns how many there were of both.
func (tx *Tx) DeleteEvents(organization int64, rows []Row, before Time, unfinished bool) (events, deliveries int64, err error) {
	deliveries, err = tx.deleteDeliveries(
		`event IN (SELECT value FROM json_each(?)) AND created_at < ? AND (? OR status IN ('succeeded', 'dead'))`,
		idList(rows), before, unfinished)
	if err != nil {
		return 0, 0, err
	}

	var removed []int64
	err = tx.List(&removed, `
		DELETE FROM events
		WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.id)
		RETURNING seq`, idList(rows))
	if err != nil || len(removed) == 0 {
		return 0, deliveries, err
	}

	_, err = tx.Exec(`
		INSERT INTO removed_events (organization_id, seq) VALUES (?, ?)
		ON CONFLICT (organization_id) DO UPDATE SET seq = max(seq, excluded.seq)`, organization, slices.Max(removed))
	return int64(len(removed)), deliveries, err
}
