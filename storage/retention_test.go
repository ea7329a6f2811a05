package storage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// The statements of a purge must find their rows by an index: reading them one
// after the other must not begin anew with each step, and deleting them is the
// writer's time.
func TestPurgesSearchByAnIndex(t *testing.T) {
	db := open(t, newFile(t))
	after := storage.Row{At: 1, ID: "1"}
	rows := []storage.Row{after}
	everybody, org := storage.PurgeScope{Before: 9}, storage.PurgeScope{Before: 9, Organization: 1, Account: 1}
	for name, c := range map[string]struct {
		run  func(tx *storage.Tx) error
		uses string
	}{
		"messages": {func(tx *storage.Tx) error { _, err := tx.OldMessages(1, 9, after, 10); return err },
			"INDEX messages_of_account (account_id=? AND id>?)"},
		"events": {func(tx *storage.Tx) error { _, err := tx.OldEvents(org, after, 10); return err }, "events_of_account (account_id=? AND rowid>?)"},
		"calls": {func(tx *storage.Tx) error { _, err := tx.OldRows(storage.APILog, everybody, after, 10); return err },
			"api_log_by_age (created_at>? AND created_at<?)"},
		"raw callbacks":   {func(tx *storage.Tx) error { _, err := tx.OldRows(storage.RawCallbacks, org, after, 10); return err }, "raw_callbacks_by_age"},
		"delete messages": {func(tx *storage.Tx) error { _, _, _, err := tx.DeleteMessages(1, rows, nil); return err }, "messages USING INDEX messages_of_account (account_id=? AND id=?)"},
		"messages of a contact": {func(tx *storage.Tx) error { _, err := tx.MessagesOfContact("c", after, 10); return err },
			"INDEX messages_of_conversation (conversation_id=? AND id>?)"},
		"threads of messages": {func(tx *storage.Tx) error { _, err := tx.UnreadLeft(1, rows, true); return err }, "messages USING INDEX messages_of_account (account_id=? AND id=?)"},
		"unread that stay":    {func(tx *storage.Tx) error { _, err := tx.UnreadAfter("v", after, true, 10); return err }, "messages_of_conversation (conversation_id=?)"},
		"mark unread":         {func(tx *storage.Tx) error { return tx.MarkUnread(map[string]storage.UnreadCount{"v": {}}) }, "conversations USING INDEX sqlite_autoindex_conversations_1 (id=?)"},
		"delete events":       {func(tx *storage.Tx) error { _, _, err := tx.DeleteEvents(1, rows, 9, true); return err }, "deliveries_of_event (event=?)"},
		"delete calls":        {func(tx *storage.Tx) error { _, err := tx.DeleteOldRows(storage.APILog, rows); return err }, "api_log USING INTEGER PRIMARY KEY (rowid=?)"},
		"delete callbacks":    {func(tx *storage.Tx) error { _, err := tx.DeleteOldRows(storage.RawCallbacks, rows); return err }, "raw_callbacks USING INTEGER PRIMARY KEY (rowid=?)"},
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { return c.run(tx) })
			text := ""
			for _, plan := range plans {
				text += strings.ReplaceAll(plan, "SCAN json_each", "")
			}
			if err != nil || !strings.Contains(text, c.uses) || slow.MatchString(text) {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			return nil
		})
	}
}

// TestRowsAreWalkedInSteps reads in steps of one what has the same age.
func TestRowsAreWalkedInSteps(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		var calls []storage.APICall
		for i := range 30 {
			org := &ours.Organization.ID
			if i%3 == 0 {
				org = &theirs.Organization.ID
			}
			calls = append(calls, storage.APICall{OrganizationID: org, Method: "GET", Path: "/v1/me", Status: 200, RequestID: "r", CreatedAt: storage.Time(5 + i/12)})
		}
		return tx.InsertAPICalls(calls)
	})
	walk := func(p storage.PurgeScope) (all []storage.Row) {
		for after := (storage.Row{}); ; after = all[len(all)-1] {
			step := view(t, db, func(rx *storage.Rx) ([]storage.Row, error) { return rx.OldRows(storage.APILog, p, after, 1) })
			if len(step) == 0 {
				return all
			}
			all = append(all, step...)
		}
	}
	all := walk(storage.PurgeScope{Before: 7})
	is.Equal(len(all), 24)    // of all with times 5, 6 and 7
	is.Equal(all[9].ID, "10") // by number, not as texts
	is.Equal(len(slices.Compact(all)), 24)
	is.Equal(len(walk(storage.PurgeScope{Before: 7, Organization: theirs.Organization.ID})), 8)
	is.Equal(len(walk(storage.PurgeScope{Before: 7, Organization: theirs.Organization.ID, Account: 1})), 0) // no account has calls
}

// TestMessagesSentLaterHideNoOlderOnes: they have the ids of when they were stored, and are younger.
func TestMessagesSentLaterHideNoOlderOnes(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "100200", "+15550001111")
	for range 3 {
		later := h.add(t, db)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.Run(`UPDATE messages SET created_at = created_at + 86400000, place = 'msg_~' || id WHERE id = ?`, later.ID)
		})
	}
	old := h.add(t, db)
	rows := view(t, db, func(rx *storage.Rx) ([]storage.Row, error) {
		return rx.OldMessages(h.account.ID, storage.Now()+1000, storage.Row{}, 2)
	})
	is.Equal(rows, []storage.Row{{At: old.CreatedAt, ID: old.ID}})
}

func TestMessagesUnderWayAreNotPurged(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "100200", "+15550001111")
	var rows []storage.Row
	for _, status := range []string{storage.MessageQueued, storage.MessagePending, storage.MessageSent, storage.MessageFailed} {
		m := h.add(t, db)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.Run(`UPDATE messages SET status = ? WHERE id = ?`, status, m.ID)
		})
		rows = append(rows, storage.Row{At: m.CreatedAt, ID: m.ID})
	}
	fetching := h.add(t, db)
	rows = append(rows, storage.Row{At: fetching.CreatedAt, ID: fetching.ID})
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`UPDATE messages SET status = 'delivered', media_status = 'fetching' WHERE id = ?`, fetching.ID)
	})
	passed := h.add(t, db) // no answer came to a call of the gateway
	rows = append(rows, storage.Row{At: passed.CreatedAt, ID: passed.ID})
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`UPDATE messages SET status = 'pending', source = 'gateway' WHERE id = ?`, passed.ID)
	})
	counted := view(t, db, func(rx *storage.Rx) (storage.PurgeCounts, error) {
		return rx.CountPurge(storage.PurgeScope{Before: storage.Now() + 1})
	})
	is.Equal(counted, storage.PurgeCounts{Messages: 3})
	is.Equal(update(t, db, func(tx *storage.Tx) (int64, error) { n, _, _, err := tx.DeleteMessages(1, rows, nil); return n, err }), int64(3))
	left := view(t, db, func(rx *storage.Rx) ([]storage.Message, error) {
		rows, _, err := rx.Messages(h.account.ID, storage.MessageFilter{}, storage.First, 10)
		return rows, err
	})
	is.Equal(len(left), 3)
	is.Equal(left[2].Status, storage.MessageQueued)
	is.Equal(left[1].Status, storage.MessagePending)
	is.Equal(left[0].ID, fetching.ID)
}
