package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// moody is an endpoint that takes some deliveries, refuses others, hangs up on
// others, takes some without saying so in time, and has no memory of any.
func moody(w http.ResponseWriter, _ *http.Request) {
	switch n := rand.IntN(100); {
	case n < 15:
		w.WriteHeader(500 + rand.IntN(4))
	case n < 20:
		w.WriteHeader(http.StatusMovedPermanently)
	case n < 30:
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	case n < 32:
		time.Sleep(400 * time.Millisecond) // longer than we wait
	}
}

// insistently retries quickly, and stops late.
var insistently = []string{
	"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8", "CONFAB_WEBHOOKS__TIMEOUT=300ms",
	"CONFAB_WEBHOOKS__DISABLE_AFTER_FAILURES=1000000", "CONFAB_WEBHOOKS__RETRY_SCHEDULE=" + strings.Repeat("50ms,", 100) + "50ms",
}

// TestKillingTheServerLosesNoEvent storms a server with messages, kills it in
// the middle, several times, and has every event delivered to an endpoint
// that fails at random. Each event must have been delivered, and each time with
// the same bytes and under the same delivery.
func TestKillingTheServerLosesNoEvent(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each, kills = 8, 40, 5
	s := prepareServer(t)
	sim := simulate(t, s)
	sim.connect(s)
	s.env = append(s.env, insistently...)
	s.start()
	hook := newReceiver(t, moody)
	made := s.mustSend("POST", "/v1/webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":["*"]}`, hook.URL))
	is.Equal(made.status, 201)
	subscription := made.body["data"].(map[string]any)

	var group sync.WaitGroup
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		group.Go(func() {
			for n := range each {
				insistOnMessage(t, s, sim.Number, fmt.Sprintf("message %d.%d", c, n), fmt.Sprintf("+1555%03d%04d", c, n))
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 1) {
			<-progress
		}
		s.kill()
		s.start()
	}
	group.Wait()
	s.awaitNone(sim.Number, "queued", "pending")
	s.awaitDelivered(subscription["id"].(string), 3*clients*each) // a contact, message.sent and a status for each
	s.kill()

	events, deliveries := outbox(t, s.dir)
	is.Equal(len(events), 3*clients*each)
	is.Equal(len(deliveries), len(events))
	for id, d := range deliveries {
		if d.Status != storage.DeliverySucceeded {
			t.Errorf("%s is %s after %d attempts: %v", id, d.Status, d.AttemptCount, d.ErrorMessage)
		}
	}
	checkBytes(t, hook.all(), events, deliveries, subscription["initial_secret"].(string))
}

// checkBytes holds what a receiver got against what happened.
func checkBytes(t *testing.T, had []hooked, events map[string]storage.Event, deliveries map[string]storage.Delivery, secret string) {
	t.Helper()
	is := is.New(t)
	times := make(map[string]int)
	for _, h := range had {
		event, delivery := h.header.Get("Webhook-Id"), h.header.Get("X-Svc-Delivery-Id")
		times[event]++
		is.Equal(string(h.body), string(events[event].Payload)) // byte for byte, each time
		is.Equal(deliveries[delivery].Event, event)             // under the one delivery that it has
		is.Equal(h.header.Get("X-Svc-Event-Id"), events[event].EventID)
	}
	for _, h := range had[:min(len(had), 200)] {
		h.verify(is, secret)
	}
	for id := range events {
		if times[id] == 0 {
			t.Errorf("%s never came", id)
		}
	}
}

// awaitDelivered waits until so many events have been delivered. The provider
// repeats callbacks that met no server, the later the more slowly.
func (s *server) awaitDelivered(subscription string, events int) {
	s.t.Helper()
	var stats map[string]any
	delivered := within(3*patience, func() bool {
		stats = s.mustSend("GET", "/v1/webhook_subscriptions/"+subscription+"/stats", "").body["data"].(map[string]any)
		return stats["succeeded"] == float64(events)
	})
	if !delivered {
		s.t.Fatalf("%d events were to be delivered: %v: %s", events, stats, s.output)
	}
}

// outbox reads what happened and what became of it, in a directory that no process
// serves.
func outbox(t *testing.T, dir string) (events map[string]storage.Event, deliveries map[string]storage.Delivery) {
	t.Helper()
	db := storagetest.OpenDir(t, dir)
	events, deliveries = make(map[string]storage.Event), make(map[string]storage.Delivery)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		orgs, err := rx.Organizations()
		if err != nil {
			return err
		}
		all, err := rx.Events(orgs[0].ID, 1_000_000)
		if err != nil {
			return err
		}
		for _, e := range all {
			events[e.ID] = e
		}
		for after := storage.First; after != storage.Last && err == nil; { // a page ends when its time is up
			var page []storage.Delivery
			page, after, err = rx.Deliveries(orgs[0].ID, storage.DeliveryFilter{}, after, 1_000_000)
			for _, d := range page {
				deliveries[d.ID] = d
			}
		}
		return err
	})
	return events, deliveries
}
