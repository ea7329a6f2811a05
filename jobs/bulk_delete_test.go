package jobs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// forget deletes the contact of a message as the API does.
func (w *world) forget(m storage.Message) {
	w.t.Helper()
	w.is.NoErr(jobs.DeleteContactMessages(context.Background(), w.db, m.AccountID, m.ContactID))
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.DeleteContact(tx, w.account.ID, m.ContactID) })
}

func TestSendsToADeletedContactEndQuietly(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(n int, c call) (*http.Response, error)
		early  bool // deleted before any worker saw the message
		calls  int
	}{
		"not sent yet":   {func(int, call) (*http.Response, error) { return accepted("wamid.1"), nil }, true, 0},
		"to be retried":  {func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }, false, 1},
		"being accepted": {func(int, call) (*http.Response, error) { time.Sleep(5 * time.Second); return accepted("wamid.1"), nil }, false, 1},
		"being refused": {func(int, call) (*http.Response, error) {
			time.Sleep(5 * time.Second)
			return refusing(400, 131026), nil
		}, false, 1},
		"being unknown": {func(_ int, c call) (*http.Response, error) { return hang(c) }, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = tt.answer
				if !tt.early {
					w.start()
				}
				m := w.message(w.text())
				time.Sleep(time.Second)
				w.forget(m)
				if tt.early {
					w.start()
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				w.is.Equal(len(w.provider.calls()), tt.calls) // never again
				w.is.Equal(w.events(), nil)
				w.is.Equal(w.jobs(), 0) // none that failed either
				w.is.Equal(storagetest.Effects(t, w.dir)["messages"], 0)
				w.report("wamid.1", "delivered", m.ID)
				w.is.Equal(w.events(), nil) // no one is left to receive it
			})
		})
	}
}

func TestADeletedContactTakesItsMediaAlong(t *testing.T) {
	bubble(t, func(w *world) {
		w.start()
		library, received, shared := w.file("image/png", "a"), w.file("image/png", "b"), w.file("image/png", "c")
		other := w.file("image/png", "c") // the same content came from somebody else
		storagetest.Exec(t, w.dir, `UPDATE media SET origin = 'message' WHERE id <> ?`, library.ID)
		m := w.message(w.picture(library))
		w.picture(received)
		w.picture(shared)
		w.queue("+15550002222", "image", `{"id":"`+other.ID+`"}`, func(msg *storage.Message) { msg.SetMedia(other) })
		time.Sleep(time.Minute)
		w.forget(m)
		for _, gone := range []storage.Media{received, shared} {
			err := w.db.View(context.Background(), func(rx *storage.Rx) error { _, err := rx.MediaByToken(gone.URLToken); return err })
			w.is.Equal(err, storage.ErrNotFound) // its URL is dead at once
		}
		w.is.Equal(len(w.files()), 3)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.is.Equal(len(w.files()), 2) // the library's, and what somebody else's message has
		for _, left := range []storage.Media{library, other} {
			storagetest.View(t, w.db, func(rx *storage.Rx) error { _, err := rx.MediaByToken(left.URLToken); return err })
		}
	})
}

func TestALongConversationIsForgottenToTheLastMessage(t *testing.T) {
	bubble(t, func(w *world) {
		m := w.message(w.text())
		w.queue("+15550002222", "text", `{"body":"stays"}`)
		storagetest.Exec(t, w.dir, `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, created_at, updated_at)
			SELECT 'msg_' || i, account_id, conversation_id, contact_id, 'inbound', 'text', 'read', 'app', '{}', i, i FROM n, messages WHERE id = ?`, m.ID)
		w.is.NoErr(jobs.DeleteContactMessages(context.Background(), w.db, m.AccountID, m.ContactID))
		w.is.Equal(fmt.Sprint(storagetest.Select[string](t, w.dir, `SELECT content FROM messages`)), `[{"body":"stays"}]`)
	})
}

// TestAMessageThatWaitsIsNotSentToAContactThatWasDeleted has a message wait for less
// than a second, after others of its number, so that its run remembers it.
func TestAMessageThatWaitsIsNotSentToAContactThatWasDeleted(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, _ call) (*http.Response, error) {
			time.Sleep(500 * time.Millisecond)
			return accepted(fmt.Sprint("wamid.", n)), nil
		}
		w.start()
		const atOnce = 64
		for range atOnce {
			w.text()
		}
		last := w.queue("+15550002222", "text", `{"body":"hi"}`)
		stays := w.queue("+15550003333", "text", `{"body":"hi"}`)
		time.Sleep(250 * time.Millisecond)
		w.forget(w.message(last))
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, c := range w.provider.calls() {
			w.is.True(c.tag() != last)
		}
		w.is.Equal(len(w.provider.calls()), atOnce+1)
		w.is.Equal(w.message(stays).Status, storage.MessageSent)
		w.is.Equal(w.jobs(), 0)
	})
}

func TestAMessageWhoseMediaIsBeingUploadedIsNotSentToAContactThatWasDeleted(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/media") {
				time.Sleep(5 * time.Second)
				return answered(200, `{"id":"1013859600285441"}`), nil
			}
			return accepted(fmt.Sprint("wamid.", n)), nil
		}
		w.start()
		m := w.message(w.picture(w.file("image/png", "a")))
		time.Sleep(2 * time.Second)
		w.forget(m)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 1) // the upload
		w.is.Equal(w.jobs(), 0)
	})
}
