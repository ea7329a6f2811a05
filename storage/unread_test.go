package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// hear stores a message that comes in.
func (h thread) hear(t testing.TB, db *storage.DB, mediaStatus *string) storage.Message {
	t.Helper()
	m := storage.Message{AccountID: h.account.ID, ConversationID: h.conversation.ID, ContactID: h.contact.ID, Direction: storage.Inbound,
		Type: "image", Status: storage.MessageDelivered, Source: storage.SourceApp, Content: storage.JSON(`{}`), MediaStatus: mediaStatus}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		thread, err := tx.Thread(h.account.ID, h.contact.ID)
		if err != nil {
			return err
		}
		if err := tx.InsertMessage(&m); err != nil {
			return err
		}
		return tx.MarkMessageReceived(&thread, tx.Now)
	})
	return m
}

// TestWhatComesInWhileMessagesAreDeletedIsUnread has messages come, and one stay, after
// it was counted what will be left.
func TestWhatComesInWhileMessagesAreDeletedIsUnread(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile int
		fetching  bool // one of the old ones waits for its media, and stays
		unread    int
	}{
		"nothing":         {0, false, 1},
		"two":             {2, false, 3},
		"one stays":       {0, true, 2},
		"one stays, both": {2, true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := open(t, newFile(t))
			h := newThread(t, db, "106540352242922", "+15551234567")
			var rows []storage.Row
			for i := range 4 {
				status := storage.MediaReady
				if c.fetching && i == 1 {
					status = storage.MediaFetching
				}
				m := h.hear(t, db, &status)
				rows = append(rows, storage.Row{At: m.CreatedAt, ID: m.ID})
			}
			h.hear(t, db, nil)
			left := view(t, db, func(rx *storage.Rx) (map[string]storage.UnreadCount, error) {
				return rx.UnreadLeft(h.account.ID, rows, true)
			})
			for range c.meanwhile {
				h.hear(t, db, nil)
			}
			storagetest.Update(t, db, func(tx *storage.Tx) error { _, _, _, err := tx.DeleteMessages(h.account.ID, rows, left); return err })
			now := view(t, db, func(rx *storage.Rx) (storage.Conversation, error) { return rx.ConversationOf(h.contact.ID) })
			is.Equal(now.UnreadCount, c.unread)
		})
	}
}

// A read receipt for an older message leaves what was read since as it is.
func TestAReceiptNeverRaisesTheUnreadCount(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	all := []storage.Message{h.hear(t, db, nil), h.hear(t, db, nil), h.hear(t, db, nil)}
	for _, step := range []struct{ read, unread int }{{1, 1}, {0, 1}, {2, 0}, {0, 0}, {1, 0}} {
		markRead(t, db, all[step.read])
		is.Equal(unreadOf(t, db, h), step.unread)
	}
}

// markRead marks a message as read, as the API does.
func markRead(t *testing.T, db *storage.DB, m storage.Message) {
	t.Helper()
	unread := view(t, db, func(rx *storage.Rx) (storage.UnreadCount, error) { return rx.CountUnreadAfter(m) })
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkRead(&m, unread) })
}

// unreadOf is how many messages of a thread are unread.
func unreadOf(t *testing.T, db *storage.DB, h thread) int {
	t.Helper()
	return view(t, db, func(rx *storage.Rx) (storage.Conversation, error) { return rx.ConversationOf(h.contact.ID) }).UnreadCount
}
