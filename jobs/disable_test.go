package jobs_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"confab/jobs"
	"confab/jobs/webhook"
	"confab/storage"
)

// numbered makes so many events, one by one.
func (w *delivering) numbered(from, to int) {
	w.t.Helper()
	for n := from; n <= to; n++ {
		w.happen(fmt.Sprint(n))
	}
}

// statuses counts the deliveries by state and error code.
func (w *delivering) statuses() map[string]int {
	w.t.Helper()
	counts := make(map[string]int)
	for _, d := range w.all() {
		key := d.Status
		if d.ErrorCode != nil {
			key += " " + *d.ErrorCode
		}
		counts[key]++
	}
	return counts
}

func TestTwentyFailuresWithinAMinuteDisableNothing(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.numbered(1, 25)
		s := w.state()
		w.is.Equal(s.ConsecutiveFailures, 25)
		w.is.Equal(s.Status, storage.WebhookActive)
		w.is.Equal(w.statuses(), map[string]int{"failed http_error": 25})
		w.wait(59 * time.Minute) // retries, all of them failing
		w.is.Equal(w.state().Status, storage.WebhookActive)
	})
}

func TestTwentyFailuresOverAnHourDisable(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		for n := 1; n <= 19; n++ { // with retries more than twenty
			w.happen(fmt.Sprint(n))
			w.wait(3 * time.Minute)
		}
		w.is.Equal(w.state().Status, storage.WebhookActive)
		w.wait(15 * time.Minute) // past the hour, with retries on the way
		s := w.state()
		w.is.Equal(s.Status, storage.WebhookDisabled)
		w.is.Equal(*s.DisabledReason, storage.ReasonFailures)
		w.is.True(s.UpdatedAt > w.subscription.UpdatedAt)
		posts := w.endpoint.posts()
		for i, p := range posts { // the first one after the hour was the last
			w.is.Equal(p.at.Sub(posts[0].at) >= time.Hour, i == len(posts)-1)
		}
		counts := w.statuses()
		w.is.Equal(counts["dead http_error"], 1) // the last failure says what the endpoint did
		w.is.Equal(counts["dead subscription_disabled"], 18)
		w.is.Equal(w.pending(), 0)
		w.happen("while disabled")
		w.is.Equal(w.statuses()["dead subscription_disabled"], 19)
		w.wait(100 * time.Hour)
		w.is.Equal(len(w.endpoint.posts()), len(posts))
		for _, d := range w.all() {
			w.is.Equal(d.NextAttemptAt, storage.Time(0))
		}
	})
}

func TestFewFailuresOverManyHoursDisableNothing(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.numbered(1, 2)
		w.wait(60 * time.Hour) // sixteen attempts
		s := w.state()
		w.is.Equal(s.ConsecutiveFailures, 16)
		w.is.Equal(s.Status, storage.WebhookActive)
		w.is.Equal(w.statuses(), map[string]int{"dead http_error": 2})
		w.numbered(3, 5)
		w.is.Equal(w.state().Status, storage.WebhookActive) // nineteen
		w.happen("6")
		w.is.Equal(w.state().Status, storage.WebhookDisabled)
		w.is.Equal(w.statuses(), map[string]int{"dead http_error": 3, "dead subscription_disabled": 3})
	})
}

func TestASuccessBeginsTheCountAnew(t *testing.T) {
	deliveries(t, func(w *delivering) {
		var fail atomic.Bool
		fail.Store(true)
		w.endpoint.play(func(int, post, *http.Request) (*http.Response, error) {
			if fail.Load() {
				return answered(500, ""), nil
			}
			return answered(200, ""), nil
		})
		w.numbered(1, 19)
		fail.Store(false)
		w.wait(2 * time.Hour)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 19})
		w.is.Equal(w.state().ConsecutiveFailures, 0)
		fail.Store(true)
		w.numbered(20, 38)
		w.happen("39")
		s := w.state()
		w.is.Equal(s.ConsecutiveFailures, 20)
		w.is.Equal(s.FailingSince, storage.Now())
		w.is.Equal(s.Status, storage.WebhookActive) // the first of these twenty is young
	})
}

func TestWithoutAMinimumAgeTheCountAloneDisables(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.numbered(1, 3)
		w.is.Equal(w.state().Status, storage.WebhookDisabled)
		w.is.Equal(w.state().ConsecutiveFailures, 3)
		w.is.Equal(w.statuses(), map[string]int{"dead http_error": 1, "dead subscription_disabled": 2})
		w.is.Equal(w.pending(), 0)
	}, func(o *jobs.Webhooks) { o.DisableAfter, o.DisableMinAge = 3, 0 })
}

func TestAnEndpointThatIsGoneIsDisabledAtOnce(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, _ *http.Request) (*http.Response, error) {
			return answered([]int{500, 410}[n-1], ""), nil
		})
		w.happen("1")
		w.happen("2")
		s := w.state()
		w.is.Equal(s.Status, storage.WebhookDisabled)
		w.is.Equal(*s.DisabledReason, storage.ReasonGone)
		all := w.all()
		w.is.Equal(*all[0].ErrorCode, "subscription_disabled") // was waiting for its retry
		w.is.Equal(*all[1].ErrorCode, webhook.HTTPError)
		w.is.Equal(*all[1].ResponseStatus, 410)
		w.is.Equal(len(w.attempts(all[1])), 1)
		w.is.Equal(w.statuses(), map[string]int{"dead http_error": 1, "dead subscription_disabled": 1})
		w.is.Equal(w.pending(), 0)
	})
}

// Nothing is lost: what could not be delivered is stored, and goes out on
// request once the endpoint is well again.
func TestWhatDiedWithASubscriptionCanBeReplayed(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(410))
		w.numbered(1, 4)
		w.endpoint.play(always(200))
		w.resume()
		w.is.Equal(len(w.endpoint.posts()), 1) // a dead delivery stays dead
		var replayed int
		w.change(func(tx *storage.Tx) (err error) {
			replayed, _, err = tx.ReplayDeliveries(storage.ReplayFilter{SubscriptionID: w.subscription.ID, Status: storage.DeliveryDead}, storage.MaxReplay)
			return err
		})
		w.is.Equal(replayed, 4)
		w.is.Equal(w.endpoint.events(), []string{"1", "1", "2", "3", "4"})
		w.happen("5")
		w.is.Equal(w.statuses()["succeeded"], 5)
		w.is.Equal(w.state().ConsecutiveFailures, 0)
	})
}

// An attempt that is on its way when its subscription is disabled changes
// nothing any more.
func TestWhatIsOnItsWayWhenASubscriptionIsDisabledIsDeadToo(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(_ int, _ post, r *http.Request) (*http.Response, error) { return hung(r) })
		w.happen("1")
		w.change(func(tx *storage.Tx) error { return tx.DisableSubscription(w.subscription.ID, storage.ReasonGone) })
		w.wait(time.Hour)
		w.is.Equal(len(w.endpoint.posts()), 1)
		w.is.Equal(w.statuses(), map[string]int{"dead subscription_disabled": 1})
		w.is.Equal(w.state().ConsecutiveFailures, 0)
	})
}

func TestAPausedSubscriptionsDeliveriesWaitAndGoOutOldestFirst(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, _ *http.Request) (*http.Response, error) {
			if n == 1 {
				return answered(500, ""), nil
			}
			return answered(200, ""), nil
		})
		w.happen("retried")
		w.pause()
		var want []string
		for n := range 30 {
			want = append(want, fmt.Sprint(n))
			w.happen(want[n])
			w.wait(time.Second) // the retry's time comes and goes
		}
		w.wait(48 * time.Hour)
		w.is.Equal(len(w.endpoint.posts()), 1)
		w.is.Equal(w.statuses(), map[string]int{"failed http_error": 1, "pending": 30})
		w.resume()
		w.wait(time.Second)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 31})
		got := w.endpoint.events()
		w.is.Equal(got[1], "retried") // the oldest of all
		w.is.Equal(got[2:], want)
		posts := w.endpoint.posts()
		w.is.Equal(posts[1].attempt, 2)
	})
}

func TestABulkReplayGoesOutOldestFirst(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, _ *http.Request) (*http.Response, error) {
			time.Sleep(time.Duration(100-n%100) * time.Millisecond) // several at once would overtake each other
			return answered(200, ""), nil
		})
		w.numbered(1, 30)
		w.wait(time.Minute) // it has earned several at once
		w.change(func(tx *storage.Tx) error { return tx.DisableSubscription(w.subscription.ID, storage.ReasonGone) })
		w.numbered(31, 60)
		w.resume()
		before := len(w.endpoint.posts())
		w.change(func(tx *storage.Tx) error {
			n, more, err := tx.ReplayDeliveries(storage.ReplayFilter{SubscriptionID: w.subscription.ID, Status: storage.DeliveryDead}, storage.MaxReplay)
			w.is.Equal(n, 30)
			w.is.True(!more)
			return err
		})
		w.wait(time.Minute)
		posts := w.endpoint.posts()[before:]
		w.is.Equal(len(posts), 30)
		for i, p := range posts {
			w.is.Equal(p.body, fmt.Sprint(31+i))
			w.is.True(i == 0 || p.at.Sub(posts[i-1].at) >= time.Millisecond) // one after the other
		}
		w.numbered(61, 61)
		w.wait(time.Second)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 61, "dead subscription_disabled": 30}) // its lane is open
	})
}

func TestAPauseOutlastsARestart(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.pause()
		w.numbered(1, 3)
		w.stop()
		w.start()
		w.wait(time.Hour)
		w.is.Equal(len(w.endpoint.posts()), 0)
		w.resume()
		w.is.Equal(w.endpoint.events(), []string{"1", "2", "3"})
	})
}

func TestAnAttemptOnItsWayMayFinishAfterAPause(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(_ int, _ post, r *http.Request) (*http.Response, error) {
			time.Sleep(5 * time.Second)
			return answered(500, ""), nil
		})
		w.happen("1")
		w.pause()
		w.wait(time.Minute)
		w.is.Equal(w.statuses(), map[string]int{"failed http_error": 1})
		w.endpoint.play(always(200))
		w.resume()
		w.wait(time.Second)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 1})
		w.is.Equal(w.state().ConsecutiveFailures, 0)
	})
}
