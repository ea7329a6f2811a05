package storage

import (
	"regexp"
	"time"
)

// Text of people must be gone from every file when it was deleted or replaced, but where
// the guides name exceptions. The connection that writes overwrites what it deletes; what
// is left is in the log, which has to be emptied: see DB.EmptyLog and Erasures.

// wordTables are the tables with what people wrote, or who they are.
const wordTables = `messages|contacts|contact_aliases|conversations|media|events|deliveries|raw_callbacks|idempotency|` +
	`customers|users|templates|quick_replies|labels|notes|views|rules|` +
	`broadcasts|broadcast_recipients|contact_imports|api_log|api_log_bodies|audit`

// erasing finds the statements that delete or replace such words. None of them is run
// where a message is stored, sent or reported.
var erasing = regexp.MustCompile(`(?is)^\s*(DELETE\s+FROM\s+(` + wordTables + `)\b` +
	`|UPDATE\s+(` + wordTables + `)\b.*\b(name|content|body|is_revoked|fields|filename|email|text|phone_number)\s*=)`)

// forget drops what a commit made stale, and counts it if it has erased words.
func (db *DB) forget(changed tableSet) {
	if changed&inErased != 0 {
		db.erasures.Add(1)
	}
	db.caches.forget(changed &^ inErased)
}

// KindBlankJobs is the kind of job that takes what deleted messages said out of the jobs that
// still name them, to send them or to fetch their files. No index finds those, so that it
// walks over the queue, outside of the transaction that deletes the messages.
const KindBlankJobs = "jobs.blank"

// blankDelay lets deletions that follow each other share a walk.
const blankDelay = time.Second

// blankJobs stores the job that follows the deletion of messages, unless one waits already.
func (tx *Tx) blankJobs() error { return tx.enqueueOnce(KindBlankJobs, tx.Now.Add(blankDelay)) }

// aboutMessage is what is left of the arguments of a job: the names of AboutMessage.
const aboutMessage = `json_object('account', args ->> '$.account', 'message', args ->> '$.message')`

// JobsToBlank lists up to limit jobs of some kinds, from one id on, that say more of a message
// than its name and whose message is deleted. It walks over the queue.
func (rx *Rx) JobsToBlank(kinds []string, after int64, limit int) ([]int64, error) {
	return rx.FindIDs("jobs", after, limit, `
		kind IN (SELECT value FROM json_each(?4)) AND args <> `+aboutMessage+`
		AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = args ->> '$.message')`, jsonList(kinds))
}

// BlankJobs takes all but the name of their message out of jobs, whose runs then end.
func (tx *Tx) BlankJobs(ids []int64) error {
	return tx.Run(`
		UPDATE jobs
		SET args = `+aboutMessage+`, last_error = NULL
		WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
}

// CountErasure counts the transaction among Erasures, whatever its statements are.
func (tx *Tx) CountErasure() { tx.AfterCommit(func() { tx.db.erasures.Add(1) }) }

// Erasures is how many commits may have erased words that are still in the log. Those of
// other processes count when this one notices them.
func (db *DB) Erasures() int64 { return db.erasures.Load() }
