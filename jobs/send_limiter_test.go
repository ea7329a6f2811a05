package jobs_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
)

// each gives every call an id of its own.
func each(n int, _ call) (*http.Response, error) { return accepted(fmt.Sprint("wamid.", n)), nil }

// queueMany accepts n messages, all to one person or each to another.
func (w *world) queueMany(n int, person bool) (ids []string) {
	for i := range n {
		to := "+15550001111"
		if !person {
			to = fmt.Sprintf("+1555100%04d", i)
		}
		ids = append(ids, w.queue(to, "text", `{"body":"hi"}`))
	}
	return ids
}

func (w *world) allSent(ids []string) {
	w.t.Helper()
	for _, id := range ids {
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	}
	w.is.Equal(len(w.provider.calls()), len(ids)) // each once
}

func TestANumbersMessagesAreSpreadOverTime(t *testing.T) {
	for _, rate := range []float64{80, 10, 2} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.options.MessagesPerSecond = rate
				w.provider.answer = each
				w.start()
				const n = 200
				ids := w.queueMany(n, false)
				time.Sleep(time.Duration(n/rate*float64(time.Second)) + time.Second)
				w.allSent(ids)
				calls := w.provider.calls()
				burst := max(1, int(rate/10))
				for i, c := range calls {
					for j := i + burst + int(rate); j < len(calls); j += int(rate) {
						w.is.True(calls[j].at.Sub(c.at) >= 990*time.Millisecond*time.Duration((j-i-burst)/int(rate))) // never faster than the rate
					}
				}
			})
		})
	}
}

func TestEachMessageWaitsForItsTurnOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.MessagesPerSecond, w.options.PairLimit = 5, true
		w.provider.answer = each
		ids := w.queueMany(150, true)
		w.start()
		time.Sleep(15 * time.Minute)
		w.allSent(ids)
		w.is.True(w.postponed.Load() <= 2*int64(len(ids))) // for the person, and then for the number
	})
}

func TestWithoutALimitEverythingGoesOutAtOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = each
		w.start()
		ids := w.queueMany(150, true)
		synctest.Wait()
		w.allSent(ids)
		for _, pause := range w.provider.pauses() {
			w.is.Equal(pause, time.Duration(0))
		}
	})
}

func TestThePairLimitDelaysOnePersonAndNobodyElse(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.PairLimit, w.options.MessagesPerSecond = true, 80
		w.provider.answer = each
		w.start()
		ids := w.queueMany(60, true)
		other := w.queue("+15550002222", "text", `{"body":"hi"}`)
		time.Sleep(2 * time.Second)
		w.is.Equal(w.message(other).Status, storage.MessageSent)
		w.is.Equal(len(w.provider.calls()), 46) // a burst of 45, and the other person's
		time.Sleep(92 * time.Second)
		w.allSent(append(ids, other))
		for _, pause := range w.provider.pauses()[46:] {
			w.is.True(pause > 5900*time.Millisecond && pause < 6100*time.Millisecond)
		}
	})
}
