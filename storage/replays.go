package storage

import "cmp"

// MaxReplay is how many deliveries one bulk replay takes, and replaysPerStep how many
// of them one transaction: each changes three rows.
const (
	MaxReplay      = 1000
	replaysPerStep = 150
)

// ReplayDelivery delivers once more what a delivery carried, and returns the new one.
func (tx *Tx) ReplayDelivery(earlier Delivery) (Delivery, error) {
	if err := tx.ExecOne(`UPDATE deliveries SET replayed = 1 WHERE id = ?`, earlier.ID); err != nil {
		return Delivery{}, err
	}
	tx.signalEvents(earlier.OrganizationID)

	d := Delivery{
		ID: tx.NewID(PrefixDelivery), OrganizationID: earlier.OrganizationID, SubscriptionID: earlier.SubscriptionID,
		Event: earlier.Event, EventType: earlier.EventType, EventID: earlier.EventID, ReplayedFrom: &earlier.ID,
	}
	return d, tx.InsertDelivery(&d, nil)
}

// replaysLookedAt is among how many of an event's latest deliveries a replay is looked for.
const replaysLookedAt = 1000

// ReplayOf finds the latest delivery that repeats another one.
func (rx *Rx) ReplayOf(d Delivery) (id string, err error) {
	return get[string](rx, `
		SELECT id
		FROM (SELECT id, replayed_from FROM deliveries INDEXED BY deliveries_of_event WHERE event = ? ORDER BY rowid DESC LIMIT ?)
		WHERE replayed_from = ?
		LIMIT 1`, d.Event, replaysLookedAt, d.ID)
}

// ReplayFilter chooses deliveries to replay: of one subscription, failed or
// dead. Zero fields among the others choose everything; both times are strict.
type ReplayFilter struct {
	SubscriptionID string
	Status         string
	EventType      string
	CreatedAfter   Time
	CreatedBefore  Time
	// BeforeJob leaves out deliveries whose job has this id or a higher one: a bulk
	// replay of several steps must not take one of its own that failed meanwhile. Ids
	// of jobs only grow, regardless of the clock.
	BeforeJob int64
}

// replayable is the part of a query that Replayable and CountReplayable share: the
// rows by one index, in the order of their age. A type of event has an index of
// its own, because a rare one must not be looked for among a million dead
// deliveries.
func (f ReplayFilter) replayable() (from string, args []any) {
	index, also := "deliveries_to_replay", ""
	args = []any{f.SubscriptionID, f.Status, f.CreatedAfter, cmp.Or(f.CreatedBefore, First.Key)}
	if f.EventType != "" {
		index, also = "deliveries_to_replay_by_type", " AND d.event_type = ?"
		args = append(args, f.EventType)
	}
	if f.BeforeJob != 0 {
		also += " AND d.job_id < ?"
		args = append(args, f.BeforeJob)
	}

	return `
		FROM deliveries d INDEXED BY ` + index + `
		WHERE d.subscription_id = ? AND d.status = ? AND d.status IN ('failed', 'dead') AND d.replayed = 0
			AND d.created_at > ? AND d.created_at < ?` + also, args
}

// Replayable lists up to limit deliveries that can be replayed and were not yet, oldest first.
func (rx *Rx) Replayable(f ReplayFilter, limit int) ([]Delivery, error) {
	from, args := f.replayable()
	return list[Delivery](rx, `
		SELECT `+deliveryColumns+from+`
		ORDER BY d.created_at, d.id
		LIMIT ?`, append(args, limit)...)
}

// CountReplayable counts what Replayable lists up to limit, or with a negative one all.
func (rx *Rx) CountReplayable(f ReplayFilter, limit int) (int, error) {
	from, args := f.replayable()
	return get[int](rx, `SELECT count(*) FROM (SELECT 1`+from+` LIMIT ?)`, append(args, limit)...)
}

// ReplayDeliveries replays the oldest deliveries that can be, as many as one transaction should hold, and
// says how many and whether there are more.
func (tx *Tx) ReplayDeliveries(f ReplayFilter, limit int) (replayed int, more bool, err error) {
	limit = min(limit, replaysPerStep)
	some, err := tx.Replayable(f, limit+1)
	if err != nil {
		return 0, false, err
	}

	if more = len(some) > limit; more {
		some = some[:limit]
	}

	// They go out in their old order, not all at once.
	defer tx.holdLane(deliveryLane(f.SubscriptionID))()
	for _, d := range some {
		if _, err := tx.ReplayDelivery(d); err != nil {
			return 0, false, err
		}
	}

	return len(some), more, nil
}
