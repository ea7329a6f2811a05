package jobs_test

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/jobs/webhook"
	"confab/storage"
	"confab/storage/storagetest"
)

// schedule is what the settings have unless they say otherwise.
var schedule = []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

const scheduleJitter = 0.2

// post is a delivery as an endpoint had it.
type post struct {
	at      time.Time
	url     string
	header  http.Header
	body    string
	attempt int
	event   string // X-Svc-Event-Id
}

// endpoint is every endpoint there is, in memory.
type endpoint struct {
	mu     sync.Mutex
	answer func(n int, p post, r *http.Request) (*http.Response, error)
	had    []post
	now    map[string]int // under way, by host
	most   map[string]int
}

// play makes endpoints answer as given. The answer knows the number of the call,
// from 1.
func (e *endpoint) play(answer func(n int, p post, r *http.Request) (*http.Response, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// RoundTrip implements http.RoundTripper.
func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	attempt, err := strconv.Atoi(r.Header.Get("X-Svc-Attempt"))
	if err != nil {
		return nil, err
	}
	p := post{time.Now(), r.URL.String(), r.Header, string(body), attempt, r.Header.Get("X-Svc-Event-Id")}
	e.mu.Lock()
	e.had = append(e.had, p)
	n, answer := len(e.had), e.answer
	e.now[r.URL.Host]++
	e.most[r.URL.Host] = max(e.most[r.URL.Host], e.now[r.URL.Host])
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now[r.URL.Host]--
	}()
	return answer(n, p, r)
}

// posts lists what arrived so far.
func (e *endpoint) posts() []post {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]post(nil), e.had...)
}

// events lists the ids of the events that arrived so far.
func (e *endpoint) events() (ids []string) {
	for _, p := range e.posts() {
		ids = append(ids, p.event)
	}
	return ids
}

// hung answers nothing until the caller stops waiting.
func hung(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// always answers with a status.
func always(status int, header ...string) func(int, post, *http.Request) (*http.Response, error) {
	return func(int, post, *http.Request) (*http.Response, error) {
		return answered(status, "so it is", header...), nil
	}
}

// delivering is a world whose jobs are deliveries, to one subscription.
type delivering struct {
	*world
	endpoint     *endpoint
	subscription storage.Subscription
	secret       string
}

// deliveries runs a test in a world with a subscription to everything, whose
// jobs have started.
func deliveries(t *testing.T, test func(w *delivering), change ...func(*jobs.Webhooks)) {
	t.Helper()
	bubble(t, func(world *world) {
		w := &delivering{world: world, endpoint: &endpoint{answer: always(200), now: make(map[string]int), most: make(map[string]int)}}
		w.options.Webhooks = jobs.Webhooks{
			Client: webhook.Client{Transport: w.endpoint, Timeout: 10 * time.Second}, Schedule: schedule,
			DisableAfter: 20, DisableMinAge: time.Hour, PerSubscription: 16,
		}
		for _, c := range change {
			c(&w.options.Webhooks)
		}
		w.subscription, w.secret = storagetest.Subscribe(world.t, w.db, w.tenant, "https://hooks.test/in")
		w.start()
		test(w)
	})
}

// happen emits events of a payload each, in one transaction each.
func (w *delivering) happen(payloads ...string) {
	w.t.Helper()
	for _, payload := range payloads {
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			return tx.InsertEvent(storage.Event{
				ID: tx.NewID(storage.PrefixEvent), OrganizationID: w.tenant.Organization.ID, Type: "message.sent", Source: "svc", EventID: payload, Payload: []byte(payload),
			}, "")
		})
	}
	synctest.Wait()
}

// wait lets time pass and everything come to rest.
func (w *delivering) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// one is the only delivery there is.
func (w *delivering) one() storage.Delivery {
	w.t.Helper()
	all := w.all()
	w.is.Equal(len(all), 1)
	return all[0]
}

// all lists the deliveries, oldest first.
func (w *delivering) all() (all []storage.Delivery) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		all, _, err = rx.Deliveries(w.tenant.Organization.ID, storage.DeliveryFilter{}, storage.First, 1000)
		return err
	})
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// attempts lists those of a delivery that have a row of their own.
func (w *delivering) attempts(d storage.Delivery) (all []storage.Attempt) {
	w.t.Helper()
	return storagetest.Select[storage.Attempt](w.t, w.dir, `
		SELECT attempt, attempted_at, response_status, duration_ms, error_code, error_message, response_body_snippet
		FROM delivery_attempts WHERE delivery_id = ? ORDER BY attempt`, d.ID)
}

// state is the subscription as it is now.
func (w *delivering) state() (s storage.Subscription) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		s, err = rx.Subscription(w.tenant.Organization.ID, w.subscription.ID)
		return err
	})
	return s
}

// pending counts the jobs that are left to deliver something.
func (w *delivering) pending() int {
	w.t.Helper()
	var all []storage.Job
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		all, err = rx.Jobs(storage.JobFilter{Kind: storage.KindDeliver, Limit: 10_000})
		return err
	})
	return len(all)
}

// change changes the database as a request does.
func (w *delivering) change(fn func(tx *storage.Tx) error) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, fn)
	synctest.Wait()
}

func (w *delivering) pause() {
	w.t.Helper()
	w.change(func(tx *storage.Tx) error { return tx.PauseSubscription(w.subscription.ID) })
}

func (w *delivering) resume() {
	w.t.Helper()
	w.change(func(tx *storage.Tx) error { return tx.ResumeSubscription(w.subscription.ID) })
}

// within reports whether a pause is a delay give or take the jitter, with a little
// for what takes no time in this world but a few milliseconds of rounding.
func within(pause, delay time.Duration) bool {
	least, most := float64(delay)*(1-scheduleJitter), float64(delay)*(1+scheduleJitter)
	return pause >= time.Duration(least)-time.Millisecond && pause <= time.Duration(most)+time.Millisecond
}

// verified checks every signature of a post as a receiver would, then.
func (w *delivering) verified(p post, secrets ...string) {
	w.t.Helper()
	for _, name := range []string{"X-Svc-Signature", "X-Svc-Signature-256"} {
		w.is.NoErr(webhook.Verify(p.header.Get(name), []byte(p.body), p.at, secrets...))
	}
}
