package jobs_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// late answers a call after a time, whether or not the caller has stopped waiting.
func late(after time.Duration) func(int, call) (*http.Response, error) {
	return func(n int, c call) (*http.Response, error) {
		time.Sleep(after)
		return each(n, c)
	}
}

// An answer may come when the lease is over: the machine was asleep, or the whole
// process was stopped.
func TestASendWhoseAnswerComesAfterItsLeaseIsNotRepeated(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"at once":         10*time.Minute + time.Second,
		"after the grace": 10*time.Minute + 45*time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.poll = time.Minute
				w.provider.answer = late(after)
				w.start()
				id := w.text()
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				w.is.Equal(len(w.provider.calls()), 1)
				w.is.Equal(w.message(id).Status, storage.MessageSent)
				w.is.Equal(w.events(), []string{"message.sent " + id + ":sent"})
				w.is.Equal(w.jobs(), 0)
			})
		})
	}
}

func TestASendThatOutlastsItsLeaseWaitsForACallback(t *testing.T) {
	bubble(t, func(w *world) {
		w.poll = time.Minute
		w.options.ReconcileWindow = 10 * time.Minute
		w.provider.answer = late(time.Hour)
		w.start()
		id := w.text()
		time.Sleep(19 * time.Minute)
		w.report("wamid.slow", "delivered", id)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.Equal(*w.message(id).ProviderID, "wamid.slow")
		w.is.Equal(w.jobs(), 0)
	})
}

// failures lists how many runs of the sends that are left have failed.
func (w *world) failures() []int {
	w.t.Helper()
	return storagetest.Select[int](w.t, w.dir, `SELECT failures FROM jobs WHERE kind = 'send' ORDER BY id`)
}

func TestAnUploadThatMovesMayTakeLongerThanItsLease(t *testing.T) {
	bubble(t, func(w *world) {
		w.poll = time.Minute
		w.provider.answer = uploadsThenSends
		w.provider.pace = 20 * time.Second
		m := w.file("image/png", strings.Repeat("p", 2000)) // three quarters of an hour
		w.start()
		ids := []string{w.picture(m), w.picture(m)} // the second waits for the first
		time.Sleep(30 * time.Minute)
		w.is.Equal(w.failures(), []int{0, 0})
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		uploads, _ := w.sentWith()
		w.is.Equal(uploads, 1)
		for _, id := range ids {
			w.is.Equal(w.message(id).Status, storage.MessageSent)
		}
	})
}

func TestAnUploadThatNeverEndsFailsItsMessage(t *testing.T) {
	bubble(t, func(w *world) {
		w.poll = time.Minute
		w.provider.answer = uploadsThenSends
		w.provider.pace = 20 * time.Second
		m := w.file("image/png", strings.Repeat("p", 100_000)) // more than a day
		w.start()
		id := w.picture(m)
		time.Sleep(3 * time.Hour)
		w.is.Equal(w.failures(), []int{1})
		time.Sleep(21 * time.Hour)
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageFailed)
		w.is.Equal(w.jobs(), 0)
	})
}

func TestADownloadThatMovesMayTakeLongerThanItsLease(t *testing.T) {
	bubble(t, func(w *world) {
		w.poll = time.Minute
		content := picture + strings.Repeat("p", 2000)
		answer := shelf(content)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			res, err := answer(n, c)
			if strings.HasPrefix(c.path, "/files/") {
				res.Body = io.NopCloser(&slowReader{w.t.Context(), bytes.NewReader([]byte(content)), 20 * time.Second})
			}
			return res, err
		}
		w.start()
		w.photo("wamid.1", "image", "")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(*w.heard().MediaStatus, "ready")
	})
}
