package storage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// BroadcastReasons says why recipients of a broadcast got no message, and how many.
type BroadcastReasons struct {
	Failed  []ReasonCount
	Skipped []ReasonCount
}

// ReasonCount is how many recipients have a reason.
type ReasonCount struct {
	Status RecipientStatus `db:"status"`
	Reason string          `db:"reason"` // of a skip, or the code of an error
	Code   int             `db:"code"`   // the provider's; 0 for none
	Count  int64           `db:"count"`
}

// BroadcastReasons counts who failed or was skipped by the reason, those of most people first.
func (rx *Rx) BroadcastReasons(b Broadcast) (all BroadcastReasons, err error) {
	sums := make(map[ReasonCount]int64) // by those without a count
	for after := int64(0); after < b.Total; after += recipientRange {
		some, err := list[ReasonCount](rx, `
			SELECT status, coalesce(reason, '') AS reason, coalesce(code, 0) AS code, count(*) AS count
			FROM broadcast_recipients
			WHERE broadcast = ? AND number > ? AND number <= ? AND status IN (4, 5)
			GROUP BY status, reason, code`, b.Number, after, after+recipientRange)
		if err == nil {
			err = rx.Pause()
		}
		if err != nil {
			return all, err
		}
		for _, one := range some {
			key := one
			key.Count = 0
			sums[key] += one.Count
		}
	}

	for _, one := range slices.SortedFunc(maps.Keys(sums), func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a.Reason, b.Reason), cmp.Compare(a.Code, b.Code))
	}) {
		one.Count = sums[one]
		if one.Status == RecipientFailed {
			all.Failed = append(all.Failed, one)
		} else {
			all.Skipped = append(all.Skipped, one)
		}
	}
	return all, nil
}

const (
	// replyWindow is how long after a message of a broadcast what somebody writes counts as a reply.
	replyWindow = 3 * 24 * time.Hour
	// maxReplies is how many messages that came in are looked at to count replies.
	maxReplies = 50_000
)

// BroadcastReplies is what people did with a broadcast.
type BroadcastReplies struct {
	People int64            // who wrote or tapped within the window
	Taps   map[string]int64 // on the buttons of the message, by their texts
}

// BroadcastReplies counts who answered a broadcast.
func (rx *Rx) BroadcastReplies(b Broadcast) (BroadcastReplies, error) {
	all := BroadcastReplies{Taps: make(map[string]int64)}
	if b.StartedAt == 0 {
		return all, nil
	}

	end := cmp.Or(b.CompletedAt, rx.db.Now())
	from, until := sqlite.FirstID(PrefixMessage, b.StartedAt), sqlite.FirstID(PrefixMessage, end.Add(replyWindow))
	var rows []struct {
		Contact string  `db:"contact_id"`
		Reply   string  `db:"reply"`
		Message string  `db:"message_id"`
		Tapped  *string `db:"tapped"`
	}
	err := rx.List(&rows, `
		SELECT i.contact_id, i.id AS reply, r.message_id,
			CASE WHEN i.context ->> '$.message_id' = m.provider_id
				THEN coalesce(i.content ->> '$.text', i.content ->> '$.button_reply.title') END AS tapped
		FROM (
			SELECT id, contact_id, context, CASE WHEN type IN ('button', 'interactive') THEN content END AS content
			FROM messages INDEXED BY messages_inbound
			WHERE account_id = ?1 AND direction = 'inbound' AND id > ?2 AND id < ?3
			ORDER BY id
			LIMIT ?4
		) i
		CROSS JOIN broadcast_recipients r INDEXED BY broadcast_recipients_of_contact
			ON r.contact_id = i.contact_id AND r.broadcast = ?5 AND r.message_id < i.id
		CROSS JOIN messages m INDEXED BY messages_of_account ON m.account_id = ?1 AND m.id = r.message_id`,
		b.AccountID, from, until, maxReplies, b.Number)
	if err != nil {
		return all, err
	}

	people := make(map[string]bool)
	for _, row := range rows {
		if sqlite.IDTime(PrefixMessage, row.Reply).Sub(sqlite.IDTime(PrefixMessage, row.Message)) > replyWindow {
			continue
		}
		people[row.Contact] = true
		if row.Tapped != nil {
			all.Taps[*row.Tapped]++
		}
	}
	all.People = int64(len(people))
	return all, nil
}
