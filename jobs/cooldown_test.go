package jobs_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// limitedUntil refuses messages with a rate limit of the account until a time after the
// start, and then takes each. It answers after a second.
func (w *world) limitedUntil(end *time.Duration) func(int, call) (*http.Response, error) {
	return func(n int, c call) (*http.Response, error) {
		limited := time.Since(w.began) < *end
		time.Sleep(time.Second)
		if limited {
			return refusing(400, 80007), nil
		}
		return each(n, c)
	}
}

// At the end of a cooldown one message finds out whether the limit still holds. The others
// follow when it was taken.
func TestAtTheEndOfACooldownOnlyOneMessageIsTried(t *testing.T) {
	bubble(t, func(w *world) {
		end := time.Duration(0)
		w.provider.answer = w.limitedUntil(&end)
		w.start()
		w.coolDown(5 * time.Minute)
		ids := w.queueMany(20, false)
		time.Sleep(4 * time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
		time.Sleep(2 * time.Minute)

		w.allSent(ids)
		at := w.provider.pauses()
		w.is.True(at[0] >= time.Second) // the first had its answer before the second began
		w.is.Equal(w.sender().CooldownUntil, storage.Time(0))
	})
}

// A message that is refused at the end of a cooldown begins another one, and no other was
// tried meanwhile. Who has waited for 15 minutes in all has failed.
func TestACooldownThatDoesNotEndFailsWhoWaitedTooLong(t *testing.T) {
	bubble(t, func(w *world) {
		end := time.Hour
		w.provider.answer = w.limitedUntil(&end)
		w.start()
		w.coolDown(10 * time.Minute)
		ids := w.queueMany(20, false)
		time.Sleep(10*time.Minute + 30*time.Second)
		w.is.Equal(len(w.provider.calls()), 1) // its retry comes a minute later
		w.is.True(w.sender().CooldownUntil > w.db.Now().Add(10*time.Minute))

		time.Sleep(5*time.Minute + 30*time.Second) // 16 in all
		failed := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return w.message(id).Status != storage.MessageFailed })
		w.is.Equal(len(failed), 19)
		for _, id := range failed {
			w.is.Equal(*w.message(id).ErrorCode, "account_rate_limited")
			w.is.True(w.message(id).ErrorProviderCode == nil)
		}
		_, code := w.failure()
		w.is.Equal(code, -1)
	})
}

// coolDown lets the account cool down for a while.
func (w *world) coolDown(d time.Duration) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.SetCooldown(w.account.ID, tx.Now.Add(d)) })
}

// The messages of a broadcast that a cooldown has paused do not leave all at once either.
func TestABroadcastGoesOnWithOneMessageAfterACooldown(t *testing.T) {
	broadcasting(t, func(w *world) {
		end := time.Minute
		limited := w.limitedUntil(&end)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if time.Since(w.began) < end {
				return limited(n, c)
			}
			time.Sleep(time.Second)
			return acceptedTo(n, c)
		}
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(14 * time.Minute)
		tried := len(w.provider.calls())
		time.Sleep(5 * time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 10, Sent: 10})
		calls := w.provider.calls()[tried:]
		w.is.True(calls[1].at.Sub(calls[0].at) >= time.Second) // the first had its answer before
		w.is.Equal(w.sender().CooldownUntil, storage.Time(0))
	})
}
