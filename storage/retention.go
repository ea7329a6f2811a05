package storage

import (
	"encoding/json"
	"slices"

	"confab/storage/sqlite"
)

// PurgeScope says what is old enough to be deleted, and whose.
type PurgeScope struct {
	Before       Time  `json:"before"`
	Organization int64 `json:"organization"` // 0: everybody's
	Account      int64 `json:"account"`      // 0: of all accounts; otherwise Organization owns it
}

// Row is the place of a row in the order of its age, which a purge walks. It
// reads the places first and deletes the rows by them, so that looking for them
// never takes the writer's time.
type Row struct {
	At  Time   `db:"created_at"`
	ID  string `db:"id"`
	Seq int64  `db:"seq"` // of an event
}

func idList(rows []Row) string { return listOf(rows, func(r Row) string { return r.ID }) }

// listOf is a list of what some rows have as one argument, for json_each.
func listOf[T any, V string | int64](rows []T, of func(T) V) string {
	all := make([]V, len(rows))
	for i, r := range rows {
		all[i] = of(r)
	}
	return jsonList(all)
}

// jsonList is a list as one argument, for json_each.
func jsonList[T string | int64](all []T) string {
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts and numbers can always be written
	}
	return string(text)
}

// deleteSome deletes, by their key, rows that a condition chooses: up to the last argument.
func (tx *Tx) deleteSome(table, key, which string, args ...any) (int64, error) {
	return tx.Exec(`
		DELETE FROM `+table+`
		WHERE (`+key+`) IN (SELECT `+key+` FROM `+table+` WHERE `+which+` LIMIT ?)`, args...)
}

// PurgedAccounts lists the accounts that a purge is about, removed ones too.
func (rx *Rx) PurgedAccounts(p PurgeScope) ([]int64, error) {
	return list[int64](rx, `
		SELECT id FROM accounts
		WHERE (?1 = 0 OR organization_id = ?1) AND (?2 = 0 OR id = ?2)
		ORDER BY id`, p.Organization, p.Account)
}

// nothingPending are the messages that are not being sent, and whose media is not being fetched. One
// that went through the gateway and got no answer stays pending: no job sends it again.
const nothingPending = `(status NOT IN ('queued', 'pending') OR status = 'pending' AND source = 'gateway')
	AND coalesce(media_status, '') <> 'fetching'`

// OldMessages lists those from before a time among the next messages of an account, oldest first,
// and passes over those that were sent later, which are younger than their ids. It looks at up to
// limit, and no further: after a young id there are no older messages, unless the clock was set,
// and those are found when the younger are gone.
func (rx *Rx) OldMessages(account int64, before Time, after Row, limit int) ([]Row, error) {
	rows, err := list[Row](rx, `
		SELECT created_at, id FROM messages
		WHERE account_id = ? AND id > ? AND (id >= ? OR created_at < ?)
		ORDER BY id
		LIMIT ?`, account, after.ID, sqlite.FirstID(PrefixMessage, before), before, limit)
	return slices.DeleteFunc(rows, func(r Row) bool { return r.At >= before }), err
}

// DeleteMessages deletes messages of an account, but none with something under way, and the
// media that came with them. What UnreadLeft has counted is left unread. It returns
// how many there were of both, and the files that have lost a row.
func (tx *Tx) DeleteMessages(
	account int64, rows []Row, unread map[string]UnreadCount,
) (messages, media int64, sums []string, err error) {
	waiting, err := tx.waitingAmong(account, rows)
	if err != nil {
		return 0, 0, nil, err
	}

	var mediaIDs []string
	err = tx.List(&mediaIDs, `
		DELETE FROM messages
		WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)) AND `+nothingPending+`
		RETURNING coalesce(media_id, '')`, account, idList(rows))
	if err == nil {
		err = tx.hint(tx.markUnread(unread), HintConversation, Scope{Account: account}, "")
	}
	if err == nil {
		err = tx.recountAll(waiting)
	}
	if err == nil && len(mediaIDs) > 0 {
		err = tx.blankJobs()
	}
	if err != nil {
		return 0, 0, nil, err
	}

	// A message without media returned an empty id.
	messages = int64(len(mediaIDs))
	if had := slices.DeleteFunc(mediaIDs, func(id string) bool { return id == "" }); len(had) > 0 { // the library keeps its own
		sums, err = list[string](&tx.Rx, `
			DELETE FROM media
			WHERE id IN (SELECT value FROM json_each(?)) AND origin = 'message'
				AND NOT EXISTS (SELECT 1 FROM messages WHERE media_id = media.id)
			RETURNING sha256`, jsonList(had))
	}

	media = int64(len(sums))
	slices.Sort(sums)
	return messages, media, slices.Compact(sums), err
}

// AgedTable is a table from which a purge deletes rows by their age alone.
type AgedTable string

// The tables that a purge deletes from by age.
const (
	APILog       AgedTable = "api_log"
	APILogBodies AgedTable = "api_log_bodies"
	RawCallbacks AgedTable = "raw_callbacks"
	AuditLog     AgedTable = "audit"

	ConversationChangeLog AgedTable = "conversation_changes" // with the messages of their age, and not counted
	NoteTable             AgedTable = "notes"                // likewise
	RuleFirings           AgedTable = "rule_firings"
)

// scope narrows the rows to an organization, ?2, and an account, ?3. Calls and audit
// entries are an organization's, never an account's; a callback that names no account of
// ours is no one's. The body of a call that is about no account may hold what any account of
// the organization has, such as events.
func (t AgedTable) scope() string {
	switch t {
	case RuleFirings: // but for those that keep a rule from firing again
		return NoteTable.scope() + ` AND NOT EXISTS (
			SELECT 1 FROM conversations v JOIN rules r ON r.id = rule_firings.rule_id
			WHERE v.id = rule_firings.conversation_id AND v.status <> 'resolved' AND r.once_per <> 'day'
				AND (r.once_per = 'spell' AND rule_firings.message_id >= v.waits_from
					OR rule_firings.message_id = (SELECT id FROM messages WHERE number = ` + lastSpoken + `)))`
	case RawCallbacks, ConversationChangeLog, NoteTable:
		return `(?2 = 0 OR EXISTS (SELECT 1 FROM accounts WHERE id = account_id AND organization_id = ?2))
			AND (?3 = 0 OR account_id = ?3)`
	case APILogBodies:
		return `(?2 = 0 OR organization_id = ?2)
			AND (?3 = 0 OR account_id = ?3
				OR account_id IS NULL AND organization_id = (SELECT organization_id FROM accounts WHERE id = ?3))`
	}
	return `(?2 = 0 OR organization_id = ?2) AND ?3 = 0`
}

// OldRows lists rows of a table from before a time, oldest first.
func (rx *Rx) OldRows(t AgedTable, p PurgeScope, after Row, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT created_at, id FROM `+string(t)+`
		WHERE created_at < ?1 AND `+t.scope()+` AND (created_at, id) > (?4, ?5)
		ORDER BY created_at, id
		LIMIT ?6`, p.Before, p.Organization, p.Account, after.At, after.ID, limit)
}

// DeleteOldRows deletes rows of a table and returns how many there were.
func (tx *Tx) DeleteOldRows(t AgedTable, rows []Row) (n PurgeCounts, err error) {
	deleted, err := tx.Exec(`DELETE FROM `+string(t)+` WHERE id IN (SELECT value FROM json_each(?))`, idList(rows))
	switch t {
	case APILog:
		n.Calls = deleted
	case RawCallbacks:
		n.RawCallbacks = deleted
	case AuditLog:
		n.Audit = deleted
	}
	return n, err
}

// PurgeCounts counts what a purge deletes, or would delete.
type PurgeCounts struct {
	Messages     int64 `db:"messages" json:"messages"`
	Media        int64 `db:"media" json:"media"`
	Events       int64 `db:"events" json:"events"`
	Deliveries   int64 `db:"deliveries" json:"deliveries"`
	Calls        int64 `db:"calls" json:"api_log"`
	RawCallbacks int64 `db:"raw_callbacks" json:"raw_callbacks"`
	Audit        int64 `db:"audit" json:"audit"`
}

// Total is how many rows that is.
func (p PurgeCounts) Total() int64 {
	return p.Messages + p.Media + p.Events + p.Deliveries + p.Calls + p.RawCallbacks + p.Audit
}

// Add adds what another step has deleted.
func (p *PurgeCounts) Add(n PurgeCounts) {
	p.Messages += n.Messages
	p.Media += n.Media
	p.Events += n.Events
	p.Deliveries += n.Deliveries
	p.Calls += n.Calls
	p.RawCallbacks += n.RawCallbacks
	p.Audit += n.Audit
}

const accountsOf = `SELECT id FROM accounts WHERE (?2 = 0 OR organization_id = ?2) AND (?3 = 0 OR id = ?3)`

// eventsPurged are the events that a purge is about, by the index of organizations: their envelopes
// are stored under a number less than 0.
const eventsPurged = `e.organization_id IN (
		SELECT id FROM organizations WHERE ?2 = 0 OR id = ?2
		UNION ALL SELECT -id FROM organizations WHERE ?2 = 0 OR id = ?2)
	AND e.created_at < ?1 AND (?3 = 0 OR e.account_id = ?3)`

// CountPurge counts what a purge finds. It reads all of it.
func (rx *Rx) CountPurge(p PurgeScope) (PurgeCounts, error) {
	return get[PurgeCounts](rx, `
		SELECT
			(SELECT count(*) FROM messages
				WHERE account_id IN (`+accountsOf+`) AND created_at < ?1 AND `+nothingPending+`) AS messages,
			(SELECT count(*) FROM messages
				WHERE account_id IN (`+accountsOf+`) AND created_at < ?1 AND `+nothingPending+`
				AND EXISTS (SELECT 1 FROM media WHERE id = media_id AND origin = 'message')) AS media,
			(SELECT count(*) FROM events e INDEXED BY events_of_organization
				WHERE `+eventsPurged+`
				AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = e.id
					AND (created_at >= ?1 OR status IN ('pending', 'failed')))) AS events,
			(SELECT count(*) FROM events e INDEXED BY events_of_organization CROSS JOIN deliveries d ON d.event = e.id
				WHERE `+eventsPurged+`
				AND d.created_at < ?1 AND d.status IN ('succeeded', 'dead')) AS deliveries,
			(SELECT count(*) FROM api_log WHERE created_at < ?1 AND `+APILog.scope()+`) AS calls,
			(SELECT count(*) FROM raw_callbacks WHERE created_at < ?1 AND `+RawCallbacks.scope()+`) AS raw_callbacks,
			(SELECT count(*) FROM audit WHERE created_at < ?1 AND `+AuditLog.scope()+`) AS audit`,
		p.Before, p.Organization, p.Account)
}
