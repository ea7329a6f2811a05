package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
)

// subscribe creates a subscription through the API and returns its id and secret.
func (s *stage) subscribe(url, events string) (id, secret string) {
	s.t.Helper()
	made := s.call("POST", s.app.URL()+"/v1/webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":[%s]}`, url, events))
	return made["id"].(string), made["initial_secret"].(string)
}

// deliveries lists those of the organization through the API, newest first.
func (s *stage) deliveries(query string) (all []map[string]any) {
	s.t.Helper()
	var list struct{ Data []map[string]any }
	s.list("/v1/webhook_deliveries?limit=100&"+query, &list)
	return list.Data
}

// list reads a page through the API.
func (s *stage) list(path string, out any) {
	s.t.Helper()
	req, err := http.NewRequest("GET", s.app.URL()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		s.t.Fatal(err)
	}
}

// settled waits until a delivery is as wanted.
func (s *stage) settled(id, status string) map[string]any {
	s.t.Helper()
	var d map[string]any
	became := until(func() bool { // the receiver knows before the sender has written it down
		d = s.call("GET", s.app.URL()+"/v1/webhook_deliveries/"+id, "")
		return d["status"] == status
	})
	if !became {
		s.t.Fatalf("%s is still %v", id, d)
	}
	return d
}

// reported is what an event says, in a few words.
func (h hooked) reported(t testing.TB) string {
	t.Helper()
	kind := h.header.Get("X-Svc-Event")
	if kind == "message.status" {
		return kind + " " + worded(t, h.body)
	}
	return kind
}

// TestAMessageIsSentDeliveredAndToldOf walks a message through everything there
// is: accepted, handed to the provider, reported back by it, and delivered in
// signed webhooks, in the order in which it happened.
func TestAMessageIsSentDeliveredAndToldOf(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable)
	number := s.connect()
	hook := newReceiver(t, nil)
	subscription, secret := s.subscribe(hook.URL+"/hook", `"*"`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hello <you> & é"}`)

	want := []string{"contact.created", "message.sent", "message.status sent", "message.status delivered", "message.status read"}
	var came []hooked
	for _, event := range want {
		h := hook.next()
		came = append(came, h)
		is.Equal(h.reported(t), event)
		is.Equal(h.header.Get("X-Svc-Attempt"), "1")
		is.Equal(h.header.Get("User-Agent"), "Svc-Webhook/1.0")
		is.Equal(h.header.Get("Content-Type"), "application/json")
		is.Equal(h.header.Get("X-Svc-Source") == "provider", strings.HasPrefix(event, "message.status"))
		h.verify(is, secret)
	}
	m := s.await(number, id, isStatus("read"))
	is.Equal(came[1].header.Get("X-Svc-Event-Id"), id+":sent")
	for _, h := range came[2:] {
		is.Equal(h.header.Get("X-Svc-Event-Id"), m["message_id"]) // the provider's
	}
	var sent struct {
		ID, Type string
		Data     struct {
			Session string
			Message struct{ ID, Body, To string }
		}
	}
	is.NoErr(json.Unmarshal(came[1].body, &sent))
	is.Equal(sent.ID, id+":sent")
	is.Equal(sent.Data.Session, number)
	is.Equal(sent.Data.Message.Body, "hello <you> & é")
	for _, h := range came {
		d := s.settled(h.header.Get("X-Svc-Delivery-Id"), "succeeded")
		is.Equal(d["subscription_id"], subscription)
		is.Equal(d["event_id"], h.header.Get("X-Svc-Event-Id"))
		is.Equal(d["attempt_count"], 1.0)
		is.Equal(d["response_status"], 200.0)
	}
	is.Equal(len(s.deliveries("status=succeeded")), len(want))
	is.Equal(len(hook.all()), len(want)) // each once
}

// TestADeliveryIsRetriedReplayedAndSurvivesARotation is the life of a webhook at
// a receiver that is not always well.
func TestADeliveryIsRetriedReplayedAndSurvivesARotation(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable, func(c *config.Config) { c.Webhooks.RetrySchedule = []time.Duration{20 * time.Millisecond} })
	answers := make(chan int, 10)
	hook := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-answers) })
	subscription, secret := s.subscribe(hook.URL, `"customer.created"`)
	test := func() string {
		s.t.Helper()
		return s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+subscription+"/test", `{}`)["id"].(string)
	}

	answers <- 500
	answers <- 200
	first := test()
	one, two := hook.next(), hook.next()
	is.Equal(one.header.Get("X-Svc-Attempt"), "1")
	is.Equal(two.header.Get("X-Svc-Attempt"), "2")
	is.Equal(one.body, two.body)
	is.Equal(one.header.Get("X-Svc-Delivery-Id"), first)
	is.Equal(two.header.Get("X-Svc-Delivery-Id"), first)
	two.verify(is, secret)
	s.settled(first, "succeeded")

	answers <- 503
	answers <- 503
	second := test()
	hook.next()
	hook.next()
	dead := s.settled(second, "dead")
	is.Equal(dead["error_code"], "http_error")
	is.Equal(dead["attempt_count"], 2.0)

	minted := s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+subscription+"/secrets", `{}`)
	newer := minted["secret"].(string)
	answers <- 200
	replay := s.call("POST", s.app.URL()+"/v1/webhook_deliveries/"+second+"/replay", `{}`)
	again := hook.next()
	is.Equal(again.header.Get("X-Svc-Delivery-Id"), replay["id"])
	is.Equal(again.header.Get("X-Svc-Attempt"), "1")
	is.Equal(replay["replayed_from"], second)
	again.verify(is, secret, newer) // both sign
	s.settled(replay["id"].(string), "succeeded")

	var list struct{ Data []map[string]any }
	s.list("/v1/webhook_deliveries/"+first+"/attempts", &list)
	is.Equal(len(list.Data), 2)
	secrets := s.call("GET", s.app.URL()+"/v1/webhook_subscriptions/"+subscription, "")["secrets"].([]any)
	old := secrets[0].(map[string]any)["id"].(string)
	if old == minted["id"] {
		old = secrets[1].(map[string]any)["id"].(string)
	}
	s.call("DELETE", s.app.URL()+"/v1/webhook_subscriptions/"+subscription+"/secrets/"+old, "")
	answers <- 200
	test()
	last := hook.next()
	last.verify(is, newer)
	is.Equal(strings.Count(last.header.Get("X-Svc-Signature"), "v1="), 1) // the old one is gone
}
