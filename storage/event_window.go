package storage

import (
	"errors"
	"slices"
	"strings"

	"confab/storage/sqlite"
)

// EventItem is an event as clients read it: alone, in a list, or as they follow all events.
type EventItem struct {
	Event
	Seq           int64   `db:"seq"`
	PhoneNumberID *string `db:"phone_number_id"`
	Organization  string  `db:"organization"`  // its public id, where the events of all are read
	DeliveryID    *string `db:"delivery_id"`   // of a replay
	ReplayedFrom  *string `db:"replayed_from"` // likewise
}

// columns are where eventColumns go. Payloads are bytes, so these rows are not read packed.
func (e *EventItem) columns() []any {
	return []any{
		&e.Seq, &e.ID, &e.OrganizationID, &e.AccountID, &e.Type, &e.Source, &e.EventID, &e.CreatedAt, &e.Payload,
		&e.PhoneNumberID, &e.Organization, &e.DeliveryID, &e.ReplayedFrom,
	}
}

const (
	eventColumns = `e.seq, e.id, e.organization_id, e.account_id, e.type, e.source, e.event_id, e.created_at, e.payload,
		a.phone_number_id, '' AS organization, NULL AS delivery_id, NULL AS replayed_from`
	accountOfEvent = `LEFT JOIN accounts a ON a.id = e.account_id`
)

// EventFilter chooses events. Zero fields choose everything; both times are strict. With
// a number, or with accounts, events that belong to none are left out.
type EventFilter struct {
	Types         []string
	PhoneNumberID string
	Of            Accounts
	CreatedAfter  Time
	CreatedBefore Time
}

// eventsOfNumber are the events of a number, also of one that was removed before its events.
const eventsOfNumber = `e.account_id IN (
	SELECT n.id FROM accounts n WHERE n.phone_number_id = ? AND n.deleted_at = 0
	UNION ALL SELECT n.id FROM accounts n WHERE n.phone_number_id = ? AND n.deleted_at <> 0)`

// narrow adds the filters to a list. The first three need only the index.
func (f EventFilter) narrow(q *sqlite.ListQuery) {
	q.Filter(`instr(?, ' ' || e.type || ' ') > 0`, len(f.Types) > 0, " "+strings.Join(f.Types, " ")+" ")
	q.Filter(`e.created_at > ?`, f.CreatedAfter != 0, f.CreatedAfter)
	q.Filter(`e.created_at < ?`, f.CreatedBefore != 0, f.CreatedBefore)
	q.Filter(eventsOfNumber, f.PhoneNumberID != "", f.PhoneNumberID, f.PhoneNumberID)
	q.Filter(isAmong("e.account_id", "?"), f.Of.Bound(), idText(f.Of))
}

// EventItem finds an event of an organization.
func (rx *Rx) EventItem(organization int64, id string) (EventItem, error) {
	return get[EventItem](rx, `
		SELECT `+eventColumns+`
		FROM events e `+accountOfEvent+`
		WHERE e.id = ? AND e.organization_id = ?`, id, organization)
}

// EventSeq is the number of an event of an organization, with 0 of any, and of some accounts.
func (rx *Rx) EventSeq(organization int64, of Accounts, id string) (seq int64, err error) {
	return value[int64](rx, `
		SELECT seq
		FROM events
		WHERE id = ?1 AND (?2 = 0 OR organization_id = ?2)
			AND (json_array_length(?3) = 0 OR account_id IN (SELECT value FROM json_each(?3)))`, id, organization, of)
}

// AccountOfEvent is the account that an event belongs to; nil if it belongs to none.
func (rx *Rx) AccountOfEvent(id string) (*int64, error) {
	return value[*int64](rx, `SELECT account_id FROM events WHERE id = ?`, id)
}

// EventItems lists an organization's events, newest first, as sqlite.FindPage does, with their number as the
// key. The type is only in the order because the index has it there.
func (rx *Rx) EventItems(organization int64, f EventFilter, after After, limit int) ([]EventItem, After, error) {
	q := eventList(organization)
	f.narrow(&q)
	return sqlite.FindPage[EventItem](&rx.Rx, q, after, limit)
}

func eventList(organization int64) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns: eventColumns, Table: "events e", Index: "events_of_organization", Joins: accountOfEvent,
		Key: "e.seq", ID: "e.type",
	}
	q.ByIndex("e.organization_id = ?", true, organization)
	return q
}

// EventEnds are the first and last of an organization's kept events.
type EventEnds struct {
	Last    int64 // the newest number that was ever given out, to whomever
	Removed int64 // the newest that was removed because of its age; 0 for none
}

// EventEnds reads them, of one organization or with 0 of all.
func (rx *Rx) EventEnds(organization int64) (e EventEnds, err error) {
	removed := `SELECT seq FROM removed_events WHERE organization_id = ?`
	if organization == 0 {
		removed = `SELECT max(seq) FROM removed_events WHERE organization_id > ?` // not of envelopes
	}
	err = rx.Scan([]any{&e.Last, &e.Removed}, `
		SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0), coalesce((`+removed+`), 0)`, organization)
	return e, err
}

// OldestEvent is the oldest event after a number, of an organization or with 0 of all; else ErrNotFound.
func (rx *Rx) OldestEvent(organization, after int64) (seq int64, at Time, err error) {
	events := `events INDEXED BY events_of_organization WHERE organization_id = ?1`
	if organization == 0 {
		events = `events WHERE ?1 = 0`
	}
	err = rx.Scan([]any{&seq, &at}, `SELECT seq, created_at FROM `+events+` AND seq > ?2 ORDER BY seq LIMIT 1`, organization, after)
	return seq, at, err
}

// OldestEventOf is OldestEvent of some accounts.
func (rx *Rx) OldestEventOf(of Accounts, after int64) (seq int64, at Time, err error) {
	err = rx.Scan([]any{&seq, &at}, `
		SELECT seq, created_at FROM events
		WHERE seq = (
			SELECT min(oldest) FROM (
				SELECT (
					SELECT e.seq FROM events e INDEXED BY events_of_account
					WHERE e.account_id = one.value AND e.seq > ?
					ORDER BY e.seq
					LIMIT 1) AS oldest
				FROM json_each(?) one))`, after, of)
	return seq, at, err
}

// EventWindow reads the events after a number in the order of their commits, of one
// organization or with 0 of all. It looks at so many rows at most, and reads no more than
// the budget allows. Every event up to the number that it returns was looked at: the
// next window begins after that. It is last, the newest there is, when nothing is left.
func (rx *Rx) EventWindow(organization int64, f EventFilter, after, last int64, rows int) ([]EventItem, int64, error) {
	q := windowQuery(organization)
	f.narrow(&q)

	until := last
	if len(q.Filters) > 0 {
		var err error
		if until, err = rx.windowEnd(q, after, last, rows); err != nil {
			return nil, after, err
		}
	}

	all, err := rx.eventsBetween(q, after, until, rows)
	if n := len(all); n > 0 && (n == rows || rx.Cut()) {
		until = all[n-1].Seq
	}
	return all, until, err
}

func (rx *Rx) eventsBetween(q sqlite.ListQuery, after, until int64, limit int) ([]EventItem, error) {
	where := slices.Concat(q.Where, []string{"e.seq > ?", "e.seq <= ?"}, q.Filters)
	return sqlite.ScanAll(&rx.Rx, (*EventItem).columns, `
		SELECT `+q.Columns+`
		FROM `+q.Table+` `+q.Joins+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY e.seq
		LIMIT ?`, slices.Concat(q.Args, []any{after, until}, q.FilterArgs, []any{limit})...)
}

// windowQuery is the query of a window: by the organization's index, or by the table itself.
func windowQuery(organization int64) (q sqlite.ListQuery) {
	q = sqlite.ListQuery{Columns: eventColumns, Table: "events e INDEXED BY events_of_organization", Joins: accountOfEvent}
	if organization == 0 {
		q.Columns = strings.Replace(eventColumns, "'' AS organization", "o.public_id AS organization", 1)
		q.Table, q.Joins = "events e", accountOfEvent+" JOIN organizations o ON o.id = e.organization_id"
	}
	q.ByIndex("e.organization_id = ?", organization != 0, organization)
	return q
}

// windowEnd is the number of the nth row after a number, before filters; the last if there are fewer.
func (rx *Rx) windowEnd(q sqlite.ListQuery, after, last int64, n int) (end int64, err error) {
	where := append(slices.Clone(q.Where), "e.seq > ?")
	err = rx.Scan([]any{&end}, `
		SELECT e.seq FROM `+q.Table+`
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY e.seq
		LIMIT 1 OFFSET ?`, append(slices.Clone(q.Args), after, n-1)...)
	if errors.Is(err, ErrNotFound) {
		return last, nil
	}
	return end, err
}

// LastReplay is the number of the newest replay: that of its job, which is not used again.
func (rx *Rx) LastReplay() (last int64, err error) {
	return value[int64](rx, `
		SELECT coalesce(max(job_id), 0)
		FROM deliveries INDEXED BY deliveries_replayed
		WHERE replayed_from IS NOT NULL`)
}

// ReplayWindow reads up to limit replays after a number, of one organization or with 0
// of all, each as the event that it carried. It returns the number to go on from.
func (rx *Rx) ReplayWindow(organization int64, f EventFilter, after int64, limit int) ([]EventItem, int64, error) {
	var q sqlite.ListQuery
	q.Filter(`d.organization_id = ?`, organization != 0, organization)
	f.narrow(&q)

	until, err := value[int64](rx, `
		SELECT job_id FROM deliveries INDEXED BY deliveries_replayed
		WHERE replayed_from IS NOT NULL AND job_id > ?
		ORDER BY job_id
		LIMIT 1 OFFSET ?`, after, limit-1)
	if errors.Is(err, ErrNotFound) {
		until, err = rx.LastReplay()
	}
	if err != nil || until <= after {
		return nil, after, err
	}

	where := append([]string{"d.replayed_from IS NOT NULL", "d.job_id > ?", "d.job_id <= ?"}, q.Filters...)
	all, err := sqlite.ScanAll(&rx.Rx, (*EventItem).columns, `
		SELECT d.job_id AS seq, e.id, e.organization_id, e.account_id, e.type, e.source, e.event_id, d.created_at, e.payload,
			a.phone_number_id, o.public_id AS organization, d.id AS delivery_id, d.replayed_from
		FROM deliveries d INDEXED BY deliveries_replayed CROSS JOIN events e ON e.id = d.event
			`+accountOfEvent+` JOIN organizations o ON o.id = e.organization_id
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY d.job_id`, append([]any{after, until}, q.FilterArgs...)...)

	if n := len(all); n > 0 && rx.Cut() {
		until = all[n-1].Seq
	}
	return all, until, err
}
