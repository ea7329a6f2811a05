// Package storageaudit looks for contradictions in the database of a server that was
// stopped after it had nothing left to do. It is for trials: it reads every row.
package storageaudit

import (
	"errors"
	"fmt"
	"slices"

	"confab/storage"
	"confab/storage/sqlite"
)

// rule is something that holds in every database at rest.
type rule struct {
	what  string // what breaks it
	query string // lists what breaks it, in words
}

var jobRules = []rule{
	{"job that is running, though nobody runs it", `
		SELECT format('job %d, %s', id, kind)
		FROM jobs
		WHERE state = 'running'`},

	{"job that gave up", `
		SELECT format('job %d, %s: %s', id, kind, last_error)
		FROM jobs
		WHERE state = 'failed'`},

	{"job whose work is done or gone", `
		SELECT format('job %d, %s of %s, %s, due in %d s: %s', j.id, j.kind, coalesce(j.args ->> '$.delivery', j.args ->> '$.message'),
			j.state, (j.due_at - unixepoch() * 1000) / 1000, j.last_error)
		FROM jobs j
		WHERE j.kind IN ('send', 'send.later', 'broadcast.send') AND NOT EXISTS (
				SELECT 1 FROM messages m
				WHERE m.account_id = j.args ->> '$.account' AND m.id = j.args ->> '$.message'
					AND (m.status = 'queued' OR m.status = 'pending'))
			OR j.kind = 'deliver' AND NOT EXISTS (
				SELECT 1 FROM deliveries d
				WHERE d.id = j.args ->> '$.delivery' AND (d.status = 'pending' OR d.status = 'failed'))`},

	{"delivery that waits without a job", `
		SELECT format('%s, %s of %s', d.id, d.status, d.event_type)
		FROM deliveries d
		WHERE (d.status = 'pending' OR d.status = 'failed') AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = d.job_id)`},

	// Of a message of the gateway whose call got no answer, only callbacks tell.
	{"message that waits without a job", `
		SELECT format('%s, %s', m.id, m.status)
		FROM messages m
		WHERE m.direction = 'outbound' AND (m.status = 'queued' OR m.status = 'pending' AND m.source <> 'gateway')
			AND m.id NOT IN (SELECT j.args ->> '$.message' FROM jobs j WHERE j.kind IN ('send', 'send.later', 'broadcast.send'))`},

	{"media that are awaited without a job", `
		SELECT m.id
		FROM messages m
		WHERE m.media_status = 'fetching'
			AND m.id NOT IN (SELECT j.args ->> '$.message' FROM jobs j WHERE j.kind = 'media.fetch')`},
}

var broadcastRules = []rule{
	{"broadcast that goes on without a job", `
		SELECT format('%s, %s', b.id, b.status)
		FROM broadcasts b
		WHERE b.status IN ('preparing', 'scheduled', 'running', 'paused')
			AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = 'broadcast.run' AND j.args ->> '$.broadcast' = b.number)`},

	// What a crash leaves half made is deleted by and by.
	{"broadcast that was only half made, long ago", `
		SELECT b.id FROM broadcasts b WHERE b.status = 'making' AND b.updated_at < (unixepoch() - 3 * 3600) * 1000`},

	// One that is taken back loses its recipients in steps.
	{"counts of a broadcast that are not those of its recipients", `
		SELECT format('%s, %s: %d/%d waiting, %d/%d sent, %d/%d delivered, %d/%d read, '
			|| '%d/%d failed, %d/%d skipped, %d/%d open, %d/%d in all',
			b.id, b.status, b.waiting, r.waiting, b.sent, r.sent, b.delivered, r.delivered, b.read, r.read, b.failed, r.failed,
			b.skipped, r.skipped, b.open, r.open, b.total, r.total)
		FROM broadcasts b JOIN (
			SELECT x.broadcast, count(*) AS total,
				sum(x.status = 0 AND y.status <> 'cancelled') AS waiting, sum(x.status = 1) AS sent, sum(x.status = 2) AS delivered,
				sum(x.status = 3) AS read, sum(x.status = 4) AS failed,
				sum(x.status = 5 OR x.status = 0 AND y.status = 'cancelled') AS skipped,
				sum(x.status = 0 AND x.message_id IS NOT NULL) AS open
			FROM broadcast_recipients x JOIN broadcasts y ON y.number = x.broadcast
			GROUP BY x.broadcast) r ON r.broadcast = b.number
		WHERE (b.waiting, b.sent, b.delivered, b.read, b.failed, b.skipped, b.open, b.total)
			<> (r.waiting, r.sent, r.delivered, r.read, r.failed, r.skipped, r.open, r.total)
			AND NOT (b.status = 'making' AND b.completed_at > 0)`},

	{"recipient with more than one message", `
		SELECT format('recipient %d of broadcast %d: %d messages', m.recipient_number, m.broadcast, count(*))
		FROM messages m
		WHERE m.broadcast IS NOT NULL
		GROUP BY m.broadcast, m.recipient_number
		HAVING count(*) > 1`},

	{"recipient that was forgotten", `
		SELECT format('recipient %d of %s, %s', r.number, b.id, b.status)
		FROM broadcast_recipients r JOIN broadcasts b ON b.number = r.broadcast
		WHERE b.status = 'completed' AND r.status = 0`},
}

// contentRules are about messages, people and events. Events have rowids in the order
// in which they were stored, regardless of the clock.
var contentRules = []rule{
	{"message of another contact than its conversation", `
		SELECT format('%s of %s, in the conversation of %s', m.id, m.contact_id, v.contact_id)
		FROM messages m JOIN conversations v ON v.id = m.conversation_id
		WHERE m.contact_id <> v.contact_id`},

	// Which message was read last is not stored. So the count is known where none was. The end
	// of a snooze makes one of none.
	{"count of unread messages that is wrong", `
		SELECT format('%s: %d, of %d received', v.id, v.unread_count, m.received)
		FROM conversations v LEFT JOIN (
			SELECT conversation_id, count(*) AS received, total(status = 'read') AS read
			FROM messages
			WHERE direction = 'inbound' AND type <> 'reaction'
			GROUP BY conversation_id) m ON m.conversation_id = v.id
		WHERE v.unread_count > max(coalesce(m.received, 0), 1) OR m.read = 0 AND v.unread_count < m.received`},

	{"count of accepted messages that is wrong", `
		SELECT format('organization %d: %d, of %d', coalesce(u.organization_id, m.organization_id), u.counted, m.accepted)
		FROM (SELECT organization_id, sum(messages) AS counted FROM usage GROUP BY organization_id) u
		FULL JOIN (
			SELECT a.organization_id, count(*) AS accepted
			FROM messages m JOIN accounts a ON a.id = m.account_id
			WHERE m.direction = 'outbound' AND m.source <> 'app'
			GROUP BY a.organization_id) m ON m.organization_id = u.organization_id
		WHERE coalesce(u.counted, 0) <> coalesce(m.accepted, 0)`},

	{"count of what messages cost that is wrong", `
		SELECT format('account %d on %s: %d/%d messages, %d/%d billable', coalesce(c.account_id, m.account_id),
			date(coalesce(c.day, m.day) / 1000, 'unixepoch'), c.messages, m.messages, c.billable, m.billable)
		FROM (
			SELECT account_id, day, broadcast, sum(messages) AS messages, sum(billable) AS billable
			FROM message_costs
			GROUP BY account_id, day, broadcast) c
		FULL JOIN (
			SELECT account_id, delivered_at - delivered_at % 86400000 AS day, coalesce(broadcast, 0) AS broadcast,
				count(*) AS messages, sum(json_type(pricing, '$.billable') IS 'true') AS billable
			FROM messages
			WHERE pricing IS NOT NULL AND delivered_at <> 0
			GROUP BY 1, 2, 3) m ON (m.account_id, m.day, m.broadcast) = (c.account_id, c.day, c.broadcast)
		WHERE (coalesce(c.messages, 0), coalesce(c.billable, 0)) <> (coalesce(m.messages, 0), coalesce(m.billable, 0))`},

	{"spell that a conversation has or lacks in its state", `
		SELECT format('%s is %s, and its spell began at %d', id, status, spell_opened_at)
		FROM conversations
		WHERE (status = 'resolved') <> (spell_opened_at = 0)
			OR spell_opened_at = 0 AND (spell_in, spell_out, spell_inbound_at, spell_replied_at) <> (0, 0, 0, 0)`},

	{"event that was delivered to a subscription under two ids", `
		SELECT format('%s of %s: %d times', event, event_type, count(*))
		FROM deliveries
		WHERE replayed_from IS NULL
		GROUP BY subscription_id, event
		HAVING count(*) > 1`},

	{"message.sent that was emitted twice", `
		SELECT format('%s: %d times', event_id, count(*))
		FROM events
		WHERE type = 'message.sent'
		GROUP BY event_id
		HAVING count(*) > 1`},

	{"message.status that was emitted before message.sent", `
		SELECT m.id
		FROM messages m
		JOIN (SELECT event_id, min(rowid) AS first FROM events WHERE type = 'message.status' GROUP BY event_id) status
			ON status.event_id = m.provider_id
		JOIN (SELECT event_id, min(rowid) AS first FROM events WHERE type = 'message.sent' GROUP BY event_id) sent
			ON sent.event_id = iif(m.source = 'broadcast', 'broadcast_msg:', '') || m.id || ':sent'
		WHERE m.direction = 'outbound' AND status.first < sent.first`},
}

var firingRules = []rule{
	// An idle rule may fire every day for the same silence; that it is a day's is held by an index.
	{"rule that fired more than once for a message", `
		SELECT format('%s fired %d times for %s', rule_id, count(*), message_id)
		FROM rule_firings
		WHERE scope NOT LIKE 'day %'
		GROUP BY rule_id, message_id
		HAVING count(*) > 1`},

	{"rules that did not fire in their order", `
		SELECT format('%s before %s, for %s', first.rule_id, next.rule_id, first.message_id)
		FROM rule_firings first JOIN rule_firings next ON next.message_id = first.message_id AND next.id > first.id
			JOIN rules a ON a.id = first.rule_id JOIN rules b ON b.id = next.rule_id
		WHERE b.position < a.position AND max(a.updated_at, b.updated_at) <= first.created_at
			AND a.on_event <> 'conversation_idle' AND b.on_event <> 'conversation_idle'`},

	{"replies of a rule that are not as many as it gave", `
		SELECT format('%s: %d messages, %d replies', coalesce(m.rule_id, f.rule_id), m.sent, f.given)
		FROM (SELECT rule_id, count(*) AS sent FROM messages WHERE rule_id IS NOT NULL GROUP BY rule_id) m
		FULL JOIN (
			SELECT f.rule_id, count(*) AS given
			FROM rule_firings f, json_each(f.actions) a
			WHERE a.value ->> 'action' = 'reply' AND a.value ->> 'outcome' = 'done'
			GROUP BY f.rule_id) f ON f.rule_id = m.rule_id
		WHERE coalesce(m.sent, 0) <> coalesce(f.given, 0)`},
}

var fileRules = []rule{
	{"fault in the file", `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`},
	{"row without the row that it refers to", `SELECT format('%s, row %d, of %s', "table", rowid, parent) FROM pragma_foreign_key_check`},
}

// Contradiction is one place where a rule is broken.
type Contradiction struct {
	Rule  string // the state that must not occur
	Where string
}

// Find returns the contradictions in the database of a data directory.
func Find(dir string) ([]Contradiction, error) {
	return find(dir, slices.Concat(fileRules, jobRules, broadcastRules, contentRules, firingRules))
}

// FindInMotion is Find for a server that was stopped amid its work, of which jobs are left.
func FindInMotion(dir string) ([]Contradiction, error) {
	return find(dir, slices.Concat(fileRules, broadcastRules, contentRules, firingRules))
}

func find(dir string, rules []rule) (found []Contradiction, err error) {
	db := sqlite.OpenCopy(storage.DatabaseFile(dir))
	defer func() { err = errors.Join(err, db.Close()) }()

	for _, r := range rules {
		var places []string
		if err := db.Select(&places, r.query); err != nil {
			return nil, fmt.Errorf("%s: %w", r.what, err)
		}
		for _, place := range places {
			found = append(found, Contradiction{r.what, place})
		}
	}
	return found, nil
}
