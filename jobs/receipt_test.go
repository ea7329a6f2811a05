package jobs_test

import (
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

// read marks a message as read as the API does.
func (w *world) read(providerID string, typing bool) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueReceipt(tx, w.account.ID, providerID, typing) })
}

// receipts lists the receipts that the provider was given, with how they ended.
func (w *world) receipts() (all []string) {
	for _, c := range w.provider.calls() {
		if !strings.Contains(c.body, `"status":"read"`) {
			continue
		}
		text := "plain"
		if strings.Contains(c.body, `"typing_indicator":{"type":"text"}`) {
			text = "typing"
		}
		all = append(all, fmt.Sprintf("%s after %s", text, c.at.Sub(w.began).Round(time.Second)))
	}
	return all
}

func done(int, call) (*http.Response, error) { return answered(200, `{"success":true}`), nil }

func busy(int, call) (*http.Response, error) { return refusing(500, 131016), nil }

func TestATypingIndicatorIsNotSentLate(t *testing.T) {
	for name, tt := range map[string]struct {
		typing bool
		down   time.Duration // before there is a server
		answer func(int, call) (*http.Response, error)
		want   string
	}{
		"at once":                       {true, 0, done, "[typing after 0s]"},
		"a plain one":                   {false, 0, done, "[plain after 0s]"},
		"after a short restart":         {true, 24 * time.Second, done, "[typing after 24s]"},
		"after a longer one":            {true, 25 * time.Second, done, "[plain after 25s]"},
		"long after":                    {true, 2 * time.Hour, done, "[plain after 2h0m0s]"},
		"a busy provider":               {true, 0, busy, "[typing after 0s typing after 5s typing after 10s typing after 15s typing after 20s]"},
		"a busy provider and a restart": {true, 25 * time.Second, busy, "[plain after 25s]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = tt.answer
				w.read("wamid.in", tt.typing)
				time.Sleep(tt.down)
				w.start()
				time.Sleep(time.Minute)
				w.is.Equal(fmt.Sprint(w.receipts()), tt.want)
			})
		})
	}
}

func TestAPlainReceiptIsTriedForAnHour(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = busy
		w.start()
		w.read("wamid.in", false)
		time.Sleep(2 * time.Hour)
		got := w.receipts()
		w.is.Equal(got[len(got)-1], "plain after 59m55s")
	})
}

func TestReceiptsOfANumberDoNotTakeEveryWorker(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
		w.start()
		for n := range 50 {
			w.read(fmt.Sprint("wamid.", n), false)
		}
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 4)
	})
}

func TestAReceiptWhoseTokenCannotBeReadIsGivenUpAtOnce(t *testing.T) {
	bubble(t, func(w *world) {
		storagetest.Exec(t, w.dir, `UPDATE accounts SET access_token = x'00'`)
		w.start()
		w.read("wamid.in", false)
		synctest.Wait()
		w.is.Equal(storagetest.Select[string](t, w.dir, `SELECT state FROM jobs WHERE kind = 'receipt'`), nil)
		w.is.Equal(len(w.provider.calls()), 0)
	})
}

// A number that lost its connection while a receipt waited sends none.
func TestANumberThatMayNotSendSendsNoReceipt(t *testing.T) {
	for name, hurt := range map[string]string{
		"disconnected": `UPDATE accounts SET status = 'disconnected'`,
		"suspended":    `UPDATE organizations SET suspended_at = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = done
				w.read("wamid.in", false)
				storagetest.Exec(t, w.dir, hurt)
				w.db.DropCaches()
				w.start()
				time.Sleep(time.Minute)
				w.is.Equal(len(w.provider.calls()), 0)
				w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT id FROM jobs WHERE kind = 'receipt'`)), 0)
			})
		})
	}
}
