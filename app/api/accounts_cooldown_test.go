package api

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestACooldownIsShownWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		a := f.connect(f.tenant, number)
		shown := func() (until, reason any) {
			got := f.call("GET", "/accounts?status=all", "").get("data").([]any)[0].(map[string]any)
			return got["cooldown_until"], got["status_reason"]
		}
		cool := func(d time.Duration) (until storage.Time) {
			storagetest.Update(t, f.db, func(tx *storage.Tx) error { until = tx.Now.Add(d); return tx.SetCooldown(a.ID, until) })
			return until
		}
		until, reason := shown()
		is.Equal(until, nil)
		is.Equal(reason, nil)

		end := cool(15 * time.Minute)
		until, reason = shown()
		is.Equal(until, end.String())
		is.Equal(reason, "rate_limited")

		mark(storage.AccountDegraded)(f, a) // why it is not connected matters more
		_, reason = shown()
		is.Equal(reason, "a test")
		mark(storage.AccountConnected)(f, a)
		f.exec(`UPDATE accounts SET status_reason = NULL`)

		time.Sleep(15 * time.Minute)
		until, reason = shown()
		is.Equal(until, nil)
		is.Equal(reason, nil)

		cool(2 * time.Hour) // by a clock that was ahead
		until, _ = shown()
		is.Equal(until, nil)
	})
}
