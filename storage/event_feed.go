package storage

// FeedEvent is an event as those who follow the events of an installation get it:
// when it happens, and again with each replay of one of its deliveries.
type FeedEvent struct {
	Event
	Seq                  int64   `db:"seq"`
	OrganizationPublicID string  `db:"organization_public_id"`
	DeliveryID           *string `db:"delivery_id"`   // of a replay
	ReplayedFrom         *string `db:"replayed_from"` // likewise
}

// FeedPosition is how far somebody has followed the events.
type FeedPosition struct{ event, delivery int64 }

// LastFeedPosition is the mark from which on only new events come.
func (rx *Rx) LastFeedPosition() (m FeedPosition, err error) {
	if err := rx.get(&m.event, `SELECT coalesce(max(rowid), 0) FROM events`); err != nil {
		return m, err
	}
	err = rx.get(&m.delivery, `SELECT coalesce(max(rowid), 0) FROM deliveries`)
	return m, err
}

// FeedEvents reads what happened after a mark, of one organization or with 0 of
// all, and returns the mark to go on from. There may be more when it has limit
// of them.
func (rx *Rx) FeedEvents(after FeedPosition, organization int64, limit int) ([]FeedEvent, FeedPosition, error) {
	next, err := rx.LastFeedPosition()
	if err != nil {
		return nil, after, err
	}

	var all, replays []FeedEvent
	err = rx.list(&all, `
		SELECT e.rowid AS seq, e.id, e.organization_id, e.account_id, e.type, e.source, e.event_id, e.payload, e.created_at,
			o.public_id AS organization_public_id, NULL AS delivery_id, NULL AS replayed_from
		FROM events e JOIN organizations o ON o.id = e.organization_id
		WHERE e.rowid > ? AND e.rowid <= ? AND (? = 0 OR e.organization_id = ?)
		ORDER BY e.rowid
		LIMIT ?`, after.event, next.event, organization, organization, limit)
	if err != nil {
		return nil, after, err
	}

	err = rx.list(&replays, `
		SELECT d.rowid AS seq, e.id, e.organization_id, e.account_id, e.type, e.source, e.event_id, e.payload, d.created_at,
			o.public_id AS organization_public_id, d.id AS delivery_id, d.replayed_from
		FROM deliveries d JOIN events e ON e.id = d.event JOIN organizations o ON o.id = e.organization_id
		WHERE d.rowid > ? AND d.rowid <= ? AND d.replayed_from IS NOT NULL AND (? = 0 OR d.organization_id = ?)
		ORDER BY d.rowid
		LIMIT ?`, after.delivery, next.delivery, organization, organization, limit)
	if err != nil {
		return nil, after, err
	}

	// A full list may have left something behind it: go on from its last row.
	if len(all) == limit {
		next.event = all[limit-1].Seq
	}
	if len(replays) == limit {
		next.delivery = replays[limit-1].Seq
	}

	return append(all, replays...), next, nil
}
