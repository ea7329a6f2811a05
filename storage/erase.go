package storage

import "regexp"

// Text of people must be gone from every file when it was deleted or replaced, but where
// the guides name exceptions. The connection that writes overwrites what it deletes; what
// is left is in the log, which has to be emptied: see DB.EmptyLog and Erasures.

// wordTables are the tables with what people wrote, or who they are.
const wordTables = `messages|contacts|contact_aliases|conversations|media|events|deliveries|raw_callbacks|idempotency|` +
	`customers|users|templates|quick_replies|labels|broadcasts|broadcast_recipients|contact_imports|api_log|audit`

// erasing finds the statements that delete or replace such words. None of them is run
// where a message is stored, sent or reported.
var erasing = regexp.MustCompile(`(?is)^\s*(DELETE\s+FROM\s+(` + wordTables + `)\b` +
	`|UPDATE\s+(` + wordTables + `)\b.*\b(name|content|body|is_revoked|fields|filename|email|text|phone_number)\s*=)`)

// erasedBy reports whether a statement erases words.
func erasedBy(query string) tableSet {
	if erasing.MatchString(query) {
		return inErased
	}
	return 0
}

// forget drops what a commit made stale, and counts it if it has erased words.
func (db *DB) forget(changed tableSet) {
	if changed&inErased != 0 {
		db.erasures.Add(1)
	}
	db.caches.forget(changed &^ inErased)
}

// Erasures is how many commits may have erased words that are still in the log. Those of
// other processes count when this one notices them.
func (db *DB) Erasures() int64 { return db.erasures.Load() }
