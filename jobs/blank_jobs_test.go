package jobs_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// What a message says is in the arguments of the job that sends it, or fetches its file. With
// its contact that is gone from the files too, whatever the job waits for.
func TestADeletedContactsWordsAreInNoJob(t *testing.T) {
	const word = "w7x5421z"
	text := func(w *world, change ...func(*storage.Message)) storage.Message {
		return w.message(w.queue("+15550001111", "text", `{"body":"`+word+`"}`, change...))
	}

	for name, wait := range map[string]func(w *world) storage.Message{
		"a cooldown": func(w *world) storage.Message {
			w.coolDown(5 * time.Minute)
			return text(w)
		},
		"its time": func(w *world) storage.Message {
			return text(w, func(m *storage.Message) { m.ScheduledAt = w.db.Now().Add(24 * time.Hour) })
		},
		"a person": func(w *world) storage.Message {
			w.coolDown(5 * time.Minute)
			m := text(w)
			time.Sleep(time.Second)
			storagetest.Exec(w.t, w.dir, `UPDATE jobs SET state = 'failed' WHERE kind = 'send'`)
			return m
		},
		"the provider": func(w *world) storage.Message {
			w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
			return text(w)
		},
		"its file": func(w *world) storage.Message {
			w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
			w.photo("wamid.9", "image", `,"caption":"`+word+`"`)
			return w.heard()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.start()
				m := wait(w)
				time.Sleep(time.Second)
				w.is.Equal(w.inFiles(word), true)
				w.forget(m)
				storagetest.Exec(t, w.dir, `DELETE FROM events`)                    // they are kept for a while, as the guide says
				storagetest.Update(t, w.db, func(*storage.Tx) error { return nil }) // notices that

				before := w.db.Erasures()
				time.Sleep(3 * time.Second)
				synctest.Wait()
				w.is.True(w.db.Erasures() > before) // so that the log is emptied
				emptied, err := w.db.EmptyLog(context.Background())
				w.is.NoErr(err)
				w.is.True(emptied)
				w.is.Equal(w.inFiles(word), false)

				sent := len(w.provider.calls())
				time.Sleep(48 * time.Hour)
				synctest.Wait()
				w.is.Equal(len(w.provider.calls()), sent) // and the message is not sent
			})
		})
	}
}

// inFiles reports whether a word is in a file of the database.
func (w *world) inFiles(word string) bool {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "*.db*"))
	w.is.NoErr(err)
	w.is.True(len(files) > 0)
	for _, file := range files {
		content, err := os.ReadFile(file)
		w.is.NoErr(err)
		if bytes.Contains(content, []byte(word)) {
			return true
		}
	}
	return false
}
