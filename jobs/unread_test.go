package jobs_test

import (
	"context"
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// hear stores a message that came in from our contact, as a callback does.
func (h *heap) hear(kind string) (m storage.Message) {
	h.t.Helper()
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		t, err := tx.Thread(h.ours.account.ID, h.ours.contact.ID)
		if err != nil {
			return err
		}
		m = storage.Message{AccountID: t.AccountID, ConversationID: t.ConversationID, ContactID: t.ID, Direction: storage.Inbound, Type: kind,
			Status: storage.MessageDelivered, Source: storage.SourceAPI, Content: storage.JSON(`{}`)}
		if err := tx.InsertMessage(&m); err != nil || kind == "reaction" {
			return err
		}
		return tx.MarkMessageReceived(&t, tx.Now)
	})
	return m
}

// read marks a message as read, as the API does.
func (h *heap) read(m storage.Message) {
	h.t.Helper()
	var unread storage.UnreadCount
	storagetest.View(h.t, h.db, func(rx *storage.Rx) (err error) { unread, err = rx.CountUnreadAfter(m); return err })
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error { return tx.MarkRead(&m, unread) })
}

func (h *heap) thread() (c storage.FullConversation) {
	h.t.Helper()
	storagetest.View(h.t, h.db, func(rx *storage.Rx) (err error) {
		c, err = rx.Conversation(h.ours.account.ID, h.ours.conversation.ID)
		return err
	})
	return c
}

func TestNothingUnreadOutlivesItsMessage(t *testing.T) {
	// Each day brings one message, a reaction and an answer.
	for name, c := range map[string]struct {
		days, read, keep int // how many there are, how many of them were read, how many are kept
		unread           int
	}{
		"all are gone":               {5, 0, 0, 0},
		"some are gone":              {5, 0, 2, 2},
		"only read ones are gone":    {5, 3, 2, 2},
		"read ones and some besides": {5, 2, 2, 2},
		"all were read":              {5, 5, 2, 0},
		"none is gone":               {5, 0, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			inHeap(t, func(h *heap) {
				for i := range c.days {
					time.Sleep(day)
					m := h.hear("text")
					h.hear("reaction")
					h.message(h.ours, storage.Outbound, storage.MessageRead, h.ours.library)
					if i < c.read {
						h.read(m)
					}
				}
				before := h.thread()
				h.is.Equal(before.UnreadCount, c.days-c.read)
				time.Sleep(time.Minute)
				h.purge(storage.PurgeScope{}, c.keep)
				after := h.thread()
				h.is.Equal(after.UnreadCount, c.unread)
				isOther := after.UnreadCount != before.UnreadCount || after.WaitingSince != before.WaitingSince
				h.is.Equal(after.UpdatedAt > before.UpdatedAt, isOther) // who polls must see it
				h.is.Equal(after.LastMessageAt, before.LastMessageAt)   // the list keeps its order
				h.is.Equal(after.LastInboundAt, before.LastInboundAt)   // and the window its end
			})
		})
	}
}

func TestRetentionForgetsWhatWasUnread(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 5 {
			h.hear("text")
		}
		time.Sleep(3 * day)
		h.hear("text")
		h.retain(jobs.Retention{Plans: map[string]int{"self_hosted": 2}})
		h.is.Equal(h.thread().UnreadCount, 1)
	})
}

// TestUnreadMessagesAreCountedInTheStepThatDeletesThem has a message that cannot be
// deleted, so that the step that deletes the others ends there.
func TestUnreadMessagesAreCountedInTheStepThatDeletesThem(t *testing.T) {
	for name, remove := range map[string]func(h *heap) error{
		"a purge": func(h *heap) error {
			return h.workers(jobs.Retention{}).Purge(context.Background(), storage.PurgeScope{Before: storage.Now()}, func(storage.PurgeCounts) {})
		},
		"a deleted contact": func(h *heap) error {
			return jobs.DeleteContactMessages(context.Background(), h.db, h.ours.contact.AccountID, h.ours.contact.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHeap(t, func(h *heap) {
				for i := range 200 {
					switch m := h.hear("text"); i {
					case 9:
						h.read(m)
					case 100:
						storagetest.Exec(t, h.dir, `CREATE TRIGGER stays BEFORE DELETE ON messages WHEN OLD.id = '`+m.ID+`' BEGIN SELECT RAISE(ABORT, 'stays'); END`)
					}
				}
				time.Sleep(day)
				h.is.True(remove(h) != nil)
				left := int(h.left(h.ours).Messages)
				h.is.True(100 <= left && left < 190)
				h.is.Equal(h.thread().UnreadCount, left)
			})
		})
	}
}
