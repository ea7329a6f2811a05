package storage

import (
	"errors"
	"math"
	"slices"
)

// Events have no index by their age: they lie in the order of their commits, which is
// that of their age as long as the clock is not set. A purge walks over them in that
// order, organization by organization, and ends when it has come to the young ones. Where
// the clock was set there are young ones among the old, so it passes over many of them
// before it ends, and then looks here and there whether old ones follow.
const (
	// purgeRange is how many events are looked at in one step.
	purgeRange = 1024
	// youngRun is how many young events in a row end the walk.
	youngRun = 4 * purgeRange
)

// OldEvents lists up to limit events of an organization from before a time, in commit order.
func (rx *Rx) OldEvents(p PurgeScope, after Row, limit int) ([]Row, error) {
	found, from, young := []Row(nil), after.Seq, 0
	for {
		until, err := rx.purgeRangeEnd(p, from)
		if err != nil {
			return nil, err
		}
		some, err := rx.oldEventsIn(p, from, until, limit-len(found))
		found = append(found, some...)
		if err != nil || until == math.MaxInt64 || len(found) == limit {
			return found, err
		}

		from, young = until, young+purgeRange
		if len(some) > 0 {
			young = 0
		}
		if young >= youngRun {
			from, err = rx.nextOldEvents(p, from)
			if err != nil {
				return found, IgnoreNotFound(err)
			}
			young = 0
		}

		if err := rx.Pause(); err != nil {
			return nil, err
		}
	}
}

// purgeRangeEnd is the number of the last event of a range, the greatest if there are no more.
func (rx *Rx) purgeRangeEnd(p PurgeScope, after int64) (until int64, err error) {
	err = rx.Scan([]any{&until}, `
		SELECT seq FROM events INDEXED BY events_of_organization
		WHERE organization_id = ? AND seq > ?
		ORDER BY seq
		LIMIT 1 OFFSET ?`, p.Organization, after, purgeRange-1)
	if errors.Is(err, ErrNotFound) {
		return math.MaxInt64, nil
	}
	return until, err
}

func (rx *Rx) oldEventsIn(p PurgeScope, after, until int64, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT created_at, id, seq FROM events INDEXED BY events_of_organization
		WHERE organization_id = ?1 AND seq > ?2 AND seq <= ?3 AND created_at < ?4 AND (?5 = 0 OR account_id = ?5)
		ORDER BY seq
		LIMIT ?6`, p.Organization, after, until, p.Before, p.Account, limit)
}

// nextOldEvents looks for old events after a long run of young ones, at distances that
// double. It returns a number to go on after; ErrNotFound if no old one was met.
func (rx *Rx) nextOldEvents(p PurgeScope, after int64) (int64, error) {
	from := after
	for distance := int64(youngRun); ; distance *= 2 {
		seq, at, err := rx.OldestEvent(p.Organization, after+distance)
		if err != nil {
			return 0, err
		}
		if at < p.Before {
			return from, nil
		}
		from = seq
	}
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
