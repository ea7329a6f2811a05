package jobs_test

import (
	"net/http"
	"slices"
	"strings"
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

// A file that takes long to upload keeps no message of its number waiting after a cooldown.
func TestAnUploadDoesNotTakeTheTrialOfANumber(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/media") {
				time.Sleep(50 * time.Second)
				return answered(200, `{"id":"1013859600285441"}`), nil
			}
			return each(n, c)
		}
		w.start()
		w.coolDown(5 * time.Minute)
		picture := w.picture(w.file("image/png", "a"))
		time.Sleep(5*time.Minute + 5*time.Second) // it is being uploaded
		text := w.queue("+15550002222", "text", `{"body":"hi"}`)
		time.Sleep(10 * time.Second)
		w.is.Equal(w.message(text).Status, storage.MessageSent)
		time.Sleep(time.Minute)
		w.is.Equal(w.message(picture).Status, storage.MessageSent)
	})
}

// While one message is tried after a cooldown, the others wait without being asked again and
// again.
func TestWhoWaitsForATrialIsLeftAlone(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				time.Sleep(50 * time.Second)
			}
			return each(n, c)
		}
		w.start()
		w.coolDown(5 * time.Minute)
		ids := w.queueMany(200, true)
		time.Sleep(5*time.Minute - time.Second)
		before := w.postponed.Load()
		time.Sleep(30 * time.Second)
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.True(w.postponed.Load()-before <= int64(len(ids)))
		late := w.queue("+15550003333", "text", `{"body":"hi"}`)

		time.Sleep(30 * time.Second)
		w.allSent(append(ids, late))
		w.is.True(w.postponed.Load()-before <= int64(len(ids)))
	})
}

// Who has waited for 15 minutes in all is not tried after them either, when the one that went
// first has not ended the cooldown.
func TestAMessageIsNotTriedAfterItHasWaitedTooLongForATrial(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) {
			time.Sleep(50 * time.Second)
			return refusing(500, 131016), nil
		}
		w.start()
		w.coolDown(14*time.Minute + 30*time.Second)
		ids := w.queueMany(3, true)
		time.Sleep(15*time.Minute + 30*time.Second)
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.Equal(w.failedOf(ids), 2)
	})
}

// That rows are dated ahead of the clock, which was set back, makes no message wait longer.
func TestAMessageWaitsForACooldownByTheClock(t *testing.T) {
	set(t, func(w *world, clock *storagetest.Clock) {
		end := 2 * time.Hour
		w.provider.answer = w.limitedUntil(&end)
		w.start()
		clock.Set(time.Hour)
		w.coolDown(time.Second)
		clock.Set(0)
		w.coolDown(10 * time.Minute)
		ids := w.queueMany(3, true)
		time.Sleep(16 * time.Minute)
		w.is.Equal(w.failedOf(ids), 2) // the one that was tried has not
	})
}

// failedOf counts which of some messages have failed, all because they waited too long.
func (w *world) failedOf(ids []string) (n int) {
	w.t.Helper()
	for _, id := range ids {
		if m := w.message(id); m.Status == storage.MessageFailed {
			w.is.Equal(*m.ErrorCode, "account_rate_limited")
			n++
		}
	}
	return n
}
