package storage

import (
	"strings"
	"time"

	"confab/storage/sqlite"
)

// The stored history of a message, for its trace. Nothing is stored for traces but the
// tries that failed: the rest is found by what the rows have in common.
//
//   - The call that made the message has the id messages.request_id, which carries its time.
//   - Its events have an event_id that follows from it: the message's own id, that and
//     ":sent", the same after "broadcast_msg:" for one of a broadcast, or the provider's id.
//     No index knows those ids, because every event would have to pay for it. But all events
//     of a message lie between its created_at and its updated_at, which is a walk over a short
//     range; one that takes too long is cut.
//   - Deliveries are found by their event, attempts by their delivery.

// broadcastEvent begins the event_id of the event that a broadcast's message was sent.
const broadcastEvent = "broadcast_msg:"

// traceSlack is how much later than the message's last change an event may be.
const traceSlack = 2 * time.Second

// TracedMessage finds a message of an organization, or with 0 of any, and whose it is. The
// id is that of the message or of an event about it.
func (rx *Rx) TracedMessage(organization int64, id string) (m Message, owner int64, err error) {
	if strings.HasPrefix(id, PrefixEvent) {
		return rx.messageOfEvent(organization, id)
	}

	err = rx.Scan(append(m.columns(), &owner), `
		SELECT `+messageColumns+`, a.organization_id
		FROM messages m INDEXED BY messages_of_account `+messageJoins+`
		WHERE m.account_id IN (SELECT n.id FROM accounts n WHERE (?1 = 0 OR n.organization_id = ?1) AND n.deleted_at = 0)
			AND m.id = ?2`, organization, id)
	return m, owner, err
}

// messageOfEvent is TracedMessage by the id of an event; ErrNotFound without a message.
func (rx *Rx) messageOfEvent(organization int64, id string) (m Message, owner int64, err error) {
	var about string
	var account *int64
	err = rx.Scan([]any{&owner, &account, &about}, `
		SELECT organization_id, account_id,
			CASE WHEN type IN ('message.edited', 'message.revoked') 
				THEN coalesce(CAST(payload AS TEXT) ->> '$.data.message_id', '') ELSE event_id END
		FROM events
		WHERE id = ?2 AND (?1 = 0 OR organization_id = ?1)`, organization, id)
	if err != nil {
		return m, 0, err
	}
	if account == nil {
		return m, 0, ErrNotFound
	}

	if own := strings.TrimPrefix(strings.TrimSuffix(about, ":sent"), broadcastEvent); ValidID(PrefixMessage, own) {
		m, err = rx.Message(*account, own)
	} else {
		m, err = rx.MessageByProviderID(*account, about)
	}
	return m, owner, err
}

// TracedEvents are the events of a message that were found.
type TracedEvents struct {
	Events []EventItem // in the order of their commits
	More   bool        // there are others after them
	Cut    bool        // the time was up: those without a delivery may be missing
}

// EventsOfMessage finds up to limit events of a message.
func (rx *Rx) EventsOfMessage(organization int64, m Message, limit int) (found TracedEvents, err error) {
	first, last, err := rx.eventRange(min(m.CreatedAt, sqlite.IDTime(PrefixMessage, m.ID)), m.UpdatedAt.Add(traceSlack))
	if err != nil || first == 0 || last == 0 {
		return found, err
	}

	q := windowQuery(organization)
	ids := []any{m.ID, m.ID + ":sent", broadcastEvent + m.ID + ":sent", m.ID}
	if m.ProviderID != nil {
		ids[3] = *m.ProviderID
	}
	q.Filter(`e.account_id = ?`, true, m.AccountID)
	q.Filter(`(e.event_id IN (?, ?, ?, ?) AND e.type LIKE 'message.%'
		OR e.type IN ('message.edited', 'message.revoked') AND instr(e.payload, CAST(? AS BLOB)) > 0)`,
		true, append(ids, `"message_id":"`+m.ID+`"`)...)

	began := time.Now()
	after := first - 1
	for n := sqlite.FirstRange; after < last; n = min(2*n, sqlite.IDRange) {
		until, err := rx.windowEnd(q, after, last, n)
		if err != nil {
			return found, err
		}

		some, err := rx.eventsBetween(q, after, until, limit+1-len(found.Events))
		if err != nil {
			return found, err
		}
		if found.Events = append(found.Events, some...); len(found.Events) > limit {
			found.Events, found.More = found.Events[:limit], true
			return found, nil
		}

		if after = until; after < last && time.Since(began) >= min(sqlite.BriefScanTime, rx.ScanTime()) {
			found.Cut = true
			found.Events, err = rx.addDelivered(found.Events, organization, ids, after, limit)
			return found, err
		}
		if err := rx.Pause(); err != nil {
			return found, err
		}
	}
	return found, nil
}

// eventRange are the numbers of the first and the last event between two times, of whomever.
// An event's id carries its time. One is 0 if there is none.
func (rx *Rx) eventRange(from, until Time) (first, last int64, err error) {
	err = rx.Scan([]any{&first, &last}, `
		SELECT coalesce((SELECT seq FROM events WHERE id >= ? ORDER BY id LIMIT 1), 0),
			coalesce((SELECT seq FROM events WHERE id < ? ORDER BY id DESC LIMIT 1), 0)`,
		sqlite.FirstID(PrefixEvent, from), sqlite.FirstID(PrefixEvent, until+1))
	return first, last, err
}

// addDelivered adds later events that were delivered to somebody: an index finds those.
func (rx *Rx) addDelivered(events []EventItem, organization int64, ids []any, after int64, limit int) ([]EventItem, error) {
	more, err := sqlite.ScanAll(&rx.Rx, (*EventItem).columns, `
		SELECT `+eventColumns+`
		FROM events e `+accountOfEvent+`
		WHERE e.id IN (
			SELECT d.event FROM deliveries d INDEXED BY deliveries_by_event_id
			WHERE d.organization_id = ? AND d.event_id IN (?, ?, ?, ?))
			AND e.seq > ?
		ORDER BY e.seq
		LIMIT ?`, append(append([]any{organization}, ids...), after, limit-len(events))...)
	return append(events, more...), err
}

// TracedDelivery is a delivery with the webhook that it goes to.
type TracedDelivery struct {
	Delivery
	URL           string  `db:"url"`
	Description   *string `db:"description"`
	WebhookStatus string  `db:"webhook_status"`
}

// DeliveriesOfEvents lists up to limit deliveries, oldest first, and counts the others.
func (rx *Rx) DeliveriesOfEvents(events []EventItem, limit int) (all []TracedDelivery, others int, err error) {
	ids := listOf(events, func(e EventItem) string { return e.ID })
	const of = `FROM deliveries d INDEXED BY deliveries_of_event JOIN subscriptions s ON s.id = d.subscription_id
		WHERE d.event IN (SELECT value FROM json_each(?)) AND s.deleted_at = 0`
	err = rx.List(&all, `
		SELECT `+deliveryColumns+`, s.url, s.description, s.status AS webhook_status `+of+`
		ORDER BY d.created_at, d.id
		LIMIT ?`, ids, limit)
	if err == nil && len(all) == limit {
		err = rx.Scan([]any{&others}, `SELECT count(*) `+of, ids)
		others -= limit
	}
	return all, others, err
}
