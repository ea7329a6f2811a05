package jobs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestDeletedMediaStillGoesOutWithWhatWasAcceptedBefore(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				return refusing(500, 131016), nil
			}
			return uploadsThenSends(n, c)
		}
		m := w.file("image/png", "\x89PNG")
		w.start()
		id := w.picture(m)
		synctest.Wait()
		w.remove(m)
		time.Sleep(2 * time.Minute)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.True(w.message(id).MediaToken == nil) // its URL is dead by now

		time.Sleep(2 * time.Hour)
		w.is.Equal(w.files(), nil)
		w.is.True(w.message(id).MediaID == nil)
		late := w.queue("+15550001111", "image", `{"id":"`+m.ID+`"}`) // as only a bug could
		time.Sleep(time.Second)
		w.is.Equal(*w.message(late).ErrorCode, "media_upload_failed")
		_, code := w.failure()
		w.is.Equal(code, -1)
	})
}

func TestDeletedMediaStaysForWhatWaitsLonger(t *testing.T) {
	for name, content := range map[string]string{
		"itself":      `{"id":"MEDIA"}`,
		"in a header": `{"type":"button","header":{"type":"image","image":{"id":"MEDIA"}},"body":{"text":"x"},"action":{"buttons":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = uploadsThenSends
				w.options.MessagesPerSecond = 0.0001 // one in almost three hours
				m := w.file("image/png", "\x89PNG")
				w.start()
				kind := map[bool]string{true: "image", false: "interactive"}[name == "itself"]
				w.text()
				synctest.Wait()
				id := w.queue("+15550001111", kind, storagetest.Swap(t, content, "MEDIA", m.ID))
				synctest.Wait()
				w.remove(m)
				time.Sleep(2 * time.Hour)
				w.is.Equal(w.message(id).Status, storage.MessageQueued)
				time.Sleep(time.Hour)
				w.is.Equal(w.message(id).Status, storage.MessageSent)
				time.Sleep(2 * time.Hour)
				w.is.Equal(w.files(), nil)
			})
		})
	}
}

func TestDeletedMediaStaysForWhatIsScheduled(t *testing.T) {
	for name, schedule := range map[string]func(*world, storage.Media, storage.Time){
		"a message": func(w *world, m storage.Media, at storage.Time) {
			w.queue("+15550001111", "image", `{"id":"`+m.ID+`"}`, func(m *storage.Message) { m.ScheduledAt = at })
		},
		"a broadcast": func(w *world, m storage.Media, at storage.Time) {
			w.broadcast(people(1), func(b *storage.Broadcast) { b.Content, b.ScheduledAt = pictured(m), at })
		},
	} {
		t.Run(name, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				w.provider.answer = uploadsThenSends
				m := w.file("image/png", "\x89PNG")
				w.start()
				schedule(w, m, w.db.Now().Add(24*time.Hour))
				w.remove(m)
				time.Sleep(25 * time.Hour)
				uploads, ids := w.sentWith()
				w.is.Equal(uploads, 1)
				w.is.Equal(len(ids), 1)
				time.Sleep(3 * time.Hour)
				w.is.Equal(w.files(), nil)
			})
		})
	}
}

func TestAFileGoesWithItsLastUser(t *testing.T) {
	bubble(t, func(w *world) {
		one, two := w.file("image/png", "same"), w.file("image/png", "same")
		w.start()
		w.is.Equal(w.files(), []string{one.SHA256})
		w.remove(one)
		time.Sleep(24 * time.Hour)
		w.is.Equal(w.files(), []string{one.SHA256}) // the second still has it
		w.remove(two)
		time.Sleep(55 * time.Minute)
		w.is.Equal(w.files(), []string{one.SHA256}) // not yet
		time.Sleep(20 * time.Minute)
		w.is.Equal(w.files(), nil)
	})
}

func TestAFileThatComesBackBeforeItsRemovalStays(t *testing.T) {
	bubble(t, func(w *world) {
		m := w.file("image/png", "same")
		w.start()
		w.remove(m)
		time.Sleep(59 * time.Minute)
		up, err := w.options.Files.Create()
		w.is.NoErr(err)
		_, err = io.WriteString(up, "same")
		w.is.NoErr(err)
		sum, err := up.Keep(context.Background()) // its row is not there when the removal looks
		w.is.NoErr(err)
		time.Sleep(2 * time.Minute)
		w.is.Equal(w.files(), []string{sum})
		again := storage.Media{AccountID: w.account.ID, Origin: storage.OriginLibrary, SHA256: sum, MIMEType: "image/png", Size: 4}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.InsertMedia(&again) })
		time.Sleep(48 * time.Hour)
		w.is.Equal(w.files(), []string{sum})
	})
}

func TestAFileThatACrashLeftWithoutARowIsSwept(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"media.remove_unused"}
		kept := w.file("image/png", "kept")
		up, err := w.options.Files.Create()
		w.is.NoErr(err)
		_, err = io.WriteString(up, "orphan")
		w.is.NoErr(err)
		_, err = up.Keep(context.Background())
		w.is.NoErr(err)
		w.is.NoErr(os.WriteFile(filepath.Join(w.dir, storage.MediaDir, kept.SHA256[:2], "notes.txt"), nil, 0o600))
		w.start()
		w.is.Equal(len(w.files()), 3) // it is young: its row may be on the way
		time.Sleep(13 * time.Hour)
		w.is.Equal(len(w.files()), 2)
		w.is.True(strings.Contains(fmt.Sprint(w.files()), kept.SHA256))
		w.is.True(strings.Contains(fmt.Sprint(w.files()), "notes.txt")) // a file that is not ours is left alone
	})
}
