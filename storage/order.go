package storage

import (
	"context"
	"strings"

	"confab/storage/sqlite"
)

// Rows are in the order of Tx.Order, which never goes back: their ids carry it, created_at and
// updated_at are it. While the clock is right it is the clock. Things that happen at a time or end
// at one (due_at, expires_at, sessions, quotas, the audit, the age of calls) go by the clock
// itself, Tx.Now.
//
// A file may hold rows that are ahead of the clock. So the order goes on after the
// latest of them when it is opened.

func (db *DB) continueOrder() error {
	return db.View(context.Background(), func(rx *Rx) error {
		latest, err := rx.latestStored()
		db.StartAfter(latest)
		return err
	})
}

// latestStored is the latest time in the order that is stored, as far as indexes find it. The
// others, as contacts.updated_at, are as a rule no later than the event that reports them.
func (rx *Rx) latestStored() (latest Time, err error) {
	ids, err := list[string](rx, latestIDs())
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		latest = max(latest, sqlite.IDTime(id[:strings.LastIndex(id, "_")+1], id))
	}

	times, err := list[Time](rx, latestTimes())
	if err != nil {
		return 0, err
	}
	for _, t := range times {
		latest = max(latest, t)
	}

	recorded, err := rx.recordedClock(rx.db.Now())
	return max(latest, recorded.Order), err
}

func latestIDs() string {
	var all []string
	for _, table := range []string{
		"users", "user_sessions", "user_passkeys", "audit", "api_keys", "customers", "setup_links", "templates", "contacts",
		"contact_imports", "conversations", "notes", "labels", "quick_replies", "views", "media", "broadcasts",
		"events", "subscriptions", "signing_secrets", "deliveries",
	} {
		all = append(all, `SELECT coalesce(max(id), '') FROM `+table)
	}

	return strings.Join(append(all,
		`SELECT coalesce(max(public_id), '') FROM accounts`,
		`SELECT coalesce((SELECT max(id) FROM messages WHERE account_id = a.id), '') FROM accounts a`,
		`SELECT coalesce((SELECT max(place) FROM messages WHERE account_id = a.id AND place IS NOT NULL), '') FROM accounts a`,
	), " UNION ALL ")
}

// latestTimes is the query for the times that no id carries: of conversations, by their indexes.
func latestTimes() string {
	all := []string{`
		SELECT coalesce((SELECT max(updated_at) FROM conversations WHERE account_id = a.id AND updated_at <> last_message_at), 0)
		FROM accounts a`}
	for _, state := range conversationStates() {
		all = append(all, `
		SELECT coalesce((SELECT max(last_message_at) FROM conversations WHERE account_id = a.id AND status = '`+state+`'), 0)
		FROM accounts a`)
	}
	return strings.Join(all, " UNION ALL ")
}
