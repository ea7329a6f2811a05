package jobs_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/queue"
	"confab/jobs/webhook"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestADeliveryThatSucceedsAtOnceLeavesOneRow(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.happen(`{"a":"<é&>"}`)
		posts := w.endpoint.posts()
		w.is.Equal(len(posts), 1)
		w.is.Equal(posts[0].url, "https://hooks.test/in")
		w.is.Equal(posts[0].body, `{"a":"<é&>"}`)
		w.is.Equal(posts[0].attempt, 1)
		w.is.Equal(posts[0].header.Get("X-Svc-Event"), "message.sent")
		w.is.Equal(posts[0].header.Get("X-Svc-Source"), "svc")
		w.verified(posts[0], w.secret)
		d := w.one()
		w.is.Equal(d.ID, posts[0].header.Get("X-Svc-Delivery-Id"))
		w.is.Equal(d.Event, posts[0].header.Get("Webhook-Id"))
		w.is.Equal(d.Status, storage.DeliverySucceeded)
		w.is.Equal(d.AttemptCount, 1)
		w.is.Equal(d.LastAttemptAt, storage.At(posts[0].at))
		w.is.Equal(d.NextAttemptAt, storage.Time(0))
		w.is.Equal(*d.ResponseStatus, 200)
		w.is.Equal(*d.ResponseBodySnippet, "so it is")
		w.is.True(d.DurationMS != nil && d.ErrorCode == nil && d.ErrorMessage == nil)
		w.is.Equal(len(w.attempts(d)), 0)
		w.is.Equal(w.pending(), 0)
		w.is.Equal(w.state().UpdatedAt, w.subscription.UpdatedAt) // nothing was written to it
	})
}

func TestTheWholeScheduleUntilADeliveryIsDead(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.happen(`{"n":1}`)
		for n, delay := range schedule {
			d := w.one()
			w.is.Equal(d.Status, storage.DeliveryFailed)
			w.is.Equal(d.AttemptCount, n+1)
			w.is.Equal(*d.ErrorCode, webhook.HTTPError)
			w.is.Equal(*d.ErrorMessage, "the endpoint answered 500 Internal Server Error")
			w.is.True(within(d.NextAttemptAt.Sub(d.LastAttemptAt), delay))
			w.is.Equal(w.state().ConsecutiveFailures, n+1)
			w.wait(d.NextAttemptAt.Sub(storage.Now()) - time.Millisecond)
			w.is.Equal(len(w.endpoint.posts()), n+1) // not before its time
			w.wait(2 * time.Millisecond)
			w.is.Equal(len(w.endpoint.posts()), n+2)
		}
		d := w.one()
		w.is.Equal(d.Status, storage.DeliveryDead)
		w.is.Equal(d.AttemptCount, 8)
		w.is.Equal(d.NextAttemptAt, storage.Time(0))
		w.is.Equal(*d.ErrorCode, webhook.HTTPError)
		w.is.Equal(w.pending(), 0)
		w.wait(100 * time.Hour)
		posts := w.endpoint.posts()
		w.is.Equal(len(posts), 8) // and never again
		whole := posts[7].at.Sub(posts[0].at)
		w.is.True(whole > 24*time.Hour && whole < 38*time.Hour) // 31 hours, give or take a fifth
		attempts := w.attempts(d)
		for i, p := range posts {
			w.is.Equal(p.attempt, i+1)
			w.is.Equal(p.body, posts[0].body)
			w.is.Equal(p.event, posts[0].event)
			w.is.Equal(p.header.Get("X-Svc-Delivery-Id"), d.ID)
			w.is.Equal(p.header.Get("Webhook-Id"), d.Event)
			w.verified(p, w.secret) // signed anew each time
			w.is.Equal(attempts[i].Attempt, i+1)
			w.is.Equal(attempts[i].AttemptedAt, storage.At(p.at))
			w.is.Equal(*attempts[i].ResponseStatus, 500)
			w.is.Equal(*attempts[i].ErrorCode, webhook.HTTPError)
		}
		w.is.Equal(w.state().Status, storage.WebhookActive) // eight are not enough
	})
}

func TestWhatFailsTogetherDoesNotReturnTogether(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(503))
		for i := range 19 {
			w.happen(fmt.Sprint(i))
		}
		delays := make(map[time.Duration]bool)
		for _, d := range w.all() {
			delay := d.NextAttemptAt.Sub(d.LastAttemptAt)
			w.is.True(within(delay, schedule[0]))
			delays[delay] = true
		}
		w.is.True(len(delays) > 10)
	})
}

func TestASuccessAfterFailuresIsRecordedAndForgivesThem(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, r *http.Request) (*http.Response, error) {
			switch n {
			case 1:
				return answered(500, "oh no"), nil
			case 2:
				return hung(r)
			}
			return answered(204, ""), nil
		})
		w.happen(`{}`)
		w.is.Equal(w.state().FailingSince, storage.Now())
		w.wait(15 * time.Second) // the second began
		w.wait(10 * time.Second) // and ended
		d := w.one()
		w.is.Equal(*d.ErrorCode, guard.Timeout)
		w.is.Equal(*d.ErrorMessage, "the endpoint did not answer within 10s")
		w.is.Equal(*d.DurationMS, int64(10_000))
		w.is.True(d.ResponseStatus == nil && d.ResponseBodySnippet == nil) // of this attempt, not of an earlier one
		w.is.Equal(w.state().ConsecutiveFailures, 2)
		w.wait(time.Minute)
		d = w.one()
		w.is.Equal(d.Status, storage.DeliverySucceeded)
		w.is.Equal(d.AttemptCount, 3)
		w.is.Equal(*d.ResponseStatus, 204)
		w.is.True(d.ErrorCode == nil && d.ErrorMessage == nil && d.ResponseBodySnippet == nil)
		attempts := w.attempts(d)
		w.is.Equal(len(attempts), 3)
		w.is.Equal(*attempts[0].ResponseBodySnippet, "oh no")
		w.is.Equal(*attempts[1].ErrorCode, guard.Timeout)
		w.is.Equal(*attempts[2].ResponseStatus, 204)
		w.is.True(attempts[2].ErrorCode == nil)
		s := w.state()
		w.is.Equal(s.ConsecutiveFailures, 0)
		w.is.Equal(s.FailingSince, storage.Time(0))
	})
}

func TestRetryAfterIsHonouredBetweenTheScheduleAndADay(t *testing.T) {
	for _, test := range []struct {
		name        string
		status      int
		value       string
		least, most time.Duration
	}{
		{"later than scheduled", 429, "120", 120 * time.Second, 120 * time.Second},
		{"of a 503 too", 503, "120", 120 * time.Second, 120 * time.Second},
		{"sooner than scheduled", 429, "1", 8 * time.Second, 12 * time.Second},
		{"later than a day", 503, "1000000", 24 * time.Hour, 24 * time.Hour},
		{"of another status", 500, "120", 8 * time.Second, 12 * time.Second},
		{"unreadable", 429, "a while", 8 * time.Second, 12 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			deliveries(t, func(w *delivering) {
				w.endpoint.play(always(test.status, "Retry-After", test.value))
				w.happen(`{}`)
				d := w.one()
				delay := d.NextAttemptAt.Sub(d.LastAttemptAt)
				w.is.True(delay >= test.least && delay <= test.most)
				w.wait(delay - time.Second)
				w.is.Equal(len(w.endpoint.posts()), 1)
				w.wait(2 * time.Second)
				w.is.Equal(len(w.endpoint.posts()), 2)
			})
		})
	}
	t.Run("as a date", func(t *testing.T) {
		deliveries(t, func(w *delivering) {
			at := time.Now().Add(5 * time.Minute).UTC()
			w.endpoint.play(always(503, "Retry-After", at.Format(http.TimeFormat)))
			w.happen(`{}`)
			w.is.True(w.one().NextAttemptAt.Std().Sub(at).Abs() <= time.Second)
		})
	})
}

func TestDeliveriesFollowTheirSubscriptionAsItIs(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.happen(`{}`)
		s := w.state()
		s.URL, s.CustomHeaders = "https://elsewhere.test/in", map[string]string{"X-Tenant": "acme"}
		w.change(func(tx *storage.Tx) error { return tx.UpdateSubscription(&s) })
		w.wait(15 * time.Second)
		posts := w.endpoint.posts()
		w.is.Equal(posts[0].url, "https://hooks.test/in")
		w.is.Equal(posts[0].header.Get("X-Tenant"), "")
		w.is.Equal(posts[1].url, "https://elsewhere.test/in")
		w.is.Equal(posts[1].header.Get("X-Tenant"), "acme")
		w.is.Equal(posts[1].body, posts[0].body)
	})
}

// Thousands of deliveries may wait in the queue. A large payload does not wait in
// memory, and goes out all the same.
func TestLargePayloadsAreReadWhenTheirTurnComes(t *testing.T) {
	deliveries(t, func(w *delivering) {
		large := `{"large":"` + strings.Repeat("a", 20_000) + `"}`
		w.happen(large, `{"small":1}`)
		w.is.Equal([]string{w.endpoint.posts()[0].body, w.endpoint.posts()[1].body}, []string{large, `{"small":1}`})

		all := w.all()
		storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
			parcels, err := rx.OutgoingDeliveries([]string{all[0].ID, all[1].ID})
			w.is.Equal(len(parcels), 1)
			w.is.Equal(string(parcels[0].Payload), `{"small":1}`)
			return err
		})
	})
}

func TestAReplayIsANewDeliveryOfTheSameBytes(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(always(500))
		w.happen(`{"original":  true}`)
		w.wait(40 * time.Hour)
		dead := w.one()
		w.is.Equal(dead.Status, storage.DeliveryDead)
		w.endpoint.play(always(200))
		w.change(func(tx *storage.Tx) error { _, err := tx.ReplayDelivery(dead); return err })
		posts := w.endpoint.posts()
		w.is.Equal(len(posts), 9)
		first, again := posts[0], posts[8]
		w.is.Equal(again.body, first.body)
		w.is.Equal(again.event, first.event)
		w.is.Equal(again.attempt, 1)
		w.is.True(again.header.Get("X-Svc-Delivery-Id") != dead.ID)
		w.verified(again, w.secret)
		all := w.all()
		w.is.Equal(all[0].Status, storage.DeliveryDead)
		w.is.Equal(all[1].Status, storage.DeliverySucceeded)
		w.is.Equal(*all[1].ReplayedFrom, dead.ID)
		w.is.Equal(all[1].AttemptCount, 1)
	})
}

// A process that stops in the middle of an attempt has made none: the next one
// makes it, and no failure is counted.
func TestAnAttemptThatWeBrokeOffIsMadeAgainAndNoFailure(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, r *http.Request) (*http.Response, error) {
			if n == 1 {
				return hung(r)
			}
			return answered(200, ""), nil
		})
		w.happen(`{}`)
		w.stop()
		w.is.Equal(w.one().AttemptCount, 0)
		w.is.Equal(w.state().ConsecutiveFailures, 0)
		w.start()
		w.wait(time.Second)
		posts := w.endpoint.posts()
		w.is.Equal(len(posts), 2)
		w.is.Equal(posts[1].attempt, 1)
		w.is.Equal(posts[1].header.Get("X-Svc-Delivery-Id"), posts[0].header.Get("X-Svc-Delivery-Id"))
		w.is.Equal(w.one().Status, storage.DeliverySucceeded)
	})
}

func TestDeliveriesOfADeletedSubscriptionEnd(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, r *http.Request) (*http.Response, error) {
			if n == 2 {
				return hung(r)
			}
			return answered(500, ""), nil
		})
		w.happen(`1`, `2`)
		w.change(func(tx *storage.Tx) error {
			return tx.DeleteSubscription(w.tenant.Organization.ID, w.subscription.ID)
		})
		w.wait(40 * time.Hour)
		w.is.Equal(len(w.endpoint.posts()), 2)
		w.is.Equal(len(w.all()), 0)
		w.is.Equal(w.pending(), 0)
	})
}

// What cannot be signed is not sent, and not lost either.
func TestADeliveryThatCannotBeAttemptedEndsAsDead(t *testing.T) {
	deliveries(t, func(w *delivering) {
		storagetest.Exec(w.t, w.dir, `UPDATE signing_secrets SET secret = x'00'`)
		w.happen(`{}`)
		w.wait(24 * time.Hour)
		w.is.Equal(len(w.endpoint.posts()), 0)
		d := w.one()
		w.is.Equal(d.Status, storage.DeliveryDead)
		w.is.Equal(*d.ErrorMessage, "no attempt could be made")
		w.is.Equal(w.pending(), 0)
	})
}

func TestEveryAttemptIsTold(t *testing.T) {
	var told []string
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, r *http.Request) (*http.Response, error) {
			return answered([]int{500, 200}[n-1], ""), nil
		})
		w.happen(`{}`)
		w.wait(time.Minute)
	}, func(o *jobs.Webhooks) {
		o.OnAttempt = func(result string, _ time.Duration) { told = append(told, result) }
	})
	if !slices.Equal(told, []string{"http_error", "succeeded"}) {
		t.Error(told)
	}
}

func TestAnAttemptThatPanicsIsOver(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(n int, _ post, _ *http.Request) (*http.Response, error) {
			if n == 1 {
				panic("boom")
			}
			time.Sleep(500 * time.Millisecond)
			return answered(200, ""), nil
		})
		w.happen("1")
		w.wait(2 * time.Second) // an attempt that is not over counts as hanging by now
		w.happen("2", "3")
		w.wait(10 * time.Second)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 3})
		w.is.Equal(w.endpoint.most["hooks.test"], 1) // one by one, until it has accepted some
	})
}

func TestTheLeaseOfADeliveryCoversItsAttempt(t *testing.T) {
	is := is.New(t)
	const margin = time.Minute
	lease := func(c webhook.Client) time.Duration {
		kinds := jobs.New(jobs.Options{DB: storagetest.Open(t), Webhooks: jobs.Webhooks{Client: c}}).Kinds()
		return kinds[slices.IndexFunc(kinds, func(k queue.Kind) bool { return k.Name == storage.KindDeliver })].Lease
	}
	is.Equal(lease(webhook.Client{}), 10*time.Second+margin) // the client's own limit
	is.Equal(lease(webhook.Client{Timeout: time.Minute}), time.Minute+margin)
}
