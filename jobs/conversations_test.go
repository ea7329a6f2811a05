package jobs_test

import (
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// snooze lets the conversation of a message sleep.
func (w *world) snooze(message string, until storage.Time) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		m, err := tx.Message(w.account.ID, message)
		if err != nil {
			return err
		}
		c, err := tx.ConversationOf(m.ContactID)
		if err != nil {
			return err
		}
		if err := tx.Snooze(&c, until); err != nil {
			return err
		}
		return tx.UpdateConversation(&c, storage.ChangedByAPI)
	})
}

func (w *world) conversationOf(message string) (c storage.FullConversation) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		c, err = rx.Conversation(w.account.ID, w.message(message).ConversationID)
		return err
	})
	return c
}

func TestASnoozeEndsAtItsTime(t *testing.T) {
	bubble(t, func(w *world) {
		sent := w.text()
		before := w.conversationOf(sent)
		w.snooze(sent, w.db.Now().Add(time.Hour))
		w.start()
		time.Sleep(59 * time.Minute)
		w.is.True(w.conversationOf(sent).SnoozedUntil != 0)
		w.is.Equal(w.conversationOf(sent).UnreadCount, 0)

		time.Sleep(2 * time.Minute)
		woken := w.conversationOf(sent)
		w.is.Equal(woken.SnoozedUntil, storage.Time(0))
		w.is.Equal(woken.UnreadCount, 1)
		w.is.Equal(woken.LastMessageAt, before.LastMessageAt) // it stays where it was in the list
		w.is.True(woken.UpdatedAt > before.UpdatedAt)
		w.is.Equal(woken.Status, storage.ConversationOpen)
		changes := storagetest.Select[string](t, w.dir, `SELECT kind || ' ' || actor FROM conversation_changes`)
		w.is.Equal(changes, []string{"woken time"})
	})
}

func TestASnoozeThatWasMovedEndsOnlyThen(t *testing.T) {
	bubble(t, func(w *world) {
		sent := w.text()
		w.snooze(sent, w.db.Now().Add(time.Hour))
		w.snooze(sent, w.db.Now().Add(3*time.Hour))
		w.start()
		time.Sleep(2 * time.Hour)
		w.is.True(w.conversationOf(sent).SnoozedUntil != 0)
		time.Sleep(2 * time.Hour)
		w.is.Equal(w.conversationOf(sent).SnoozedUntil, storage.Time(0))
	})
}

// Notes age as messages do.
func TestRetentionDeletesNotesOfItsAge(t *testing.T) {
	inHeap(t, func(h *heap) {
		note := func() {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
				return tx.InsertNote(&storage.Note{
					AccountID: h.ours.account.ID, ConversationID: h.ours.conversation.ID,
					Text: "x", NoteAuthor: storage.NoteAuthor{Type: storage.NoteByKey, ID: "key_1"},
				})
			})
		}
		note()
		h.day()
		h.day()
		h.day()
		note()
		h.retain(jobs.Retention{Plans: map[string]int{"self_hosted": 2}})
		h.is.Equal(storagetest.Select[int](t, h.dir, `SELECT count(*) FROM notes`), []int{1})
	})
}
