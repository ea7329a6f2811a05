package jobs_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestEveryKindHasWorkersOfItsOwn(t *testing.T) {
	for _, k := range jobs.New(jobs.Options{DB: storagetest.Open(t)}).Kinds() {
		if k.Reserved < 1 {
			t.Errorf("%s can be kept waiting by the other kinds", k.Name)
		}
	}
}

// A campaign at a slow provider has all workers. What comes in meanwhile must not
// wait for it.
func TestACampaignKeepsNoOtherJobWaiting(t *testing.T) {
	bubble(t, func(w *world) {
		w.workers = 4
		inbound := shelf(picture)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			switch {
			case strings.HasSuffix(c.path, "/7700") || strings.HasPrefix(c.path, "/files/"):
				return inbound(n, c)
			case strings.Contains(c.body, `"status":"read"`):
				return done(n, c)
			}
			time.Sleep(9 * time.Second)
			return each(n, c)
		}
		w.start()
		w.queueMany(200, false)
		synctest.Wait()
		began := time.Now()
		w.photo("wamid.1", "image", "")
		w.read("wamid.1", false)
		synctest.Wait()
		w.is.Equal(w.events()[len(w.events())-1], "message.received wamid.1")
		w.is.Equal(len(w.receipts()), 1)
		w.is.Equal(time.Since(began), time.Duration(0))
		time.Sleep(time.Hour)
		w.is.Equal(w.jobs(), 0)
	})
}

// Nor do downloads keep a message waiting.
func TestDownloadsKeepNoSendWaiting(t *testing.T) {
	bubble(t, func(w *world) {
		w.workers = 4
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/messages") {
				return each(n, c)
			}
			return hang(c)
		}
		w.start()
		for n := range 60 {
			w.photo("wamid.in."+strings.Repeat("i", n), "image", "")
		}
		synctest.Wait()
		id := w.text()
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	})
}
