package main

import (
	"fmt"
	"strings"
	"sync"

	"confab/app/tools/rig"

	"golang.org/x/time/rate"
)

// tenant is an organization with one number, and a record of what was acknowledged to it.
// mu guards the fields below it, which all clients of the tenant write.
type tenant struct {
	*client
	trial         *trial
	name          string
	index         int
	org, number   string
	outboundLimit *rate.Limiter
	inboundLimit  *rate.Limiter // of people
	media         string        // id of a file in the library
	label         string
	rules         []string          // those that fire for every message
	hooks         map[string]string // subscriptions that live as long as the trial, by kind

	mu       sync.Mutex
	sent     map[string]string // acknowledged sends: id to type
	received map[string]string // what people wrote, by the provider's id: type
	echoed   map[string]bool   // what was sent from the phone app
	repeats  []acknowledged    // sends that the audit repeats
	merged   []mergedPerson

	passed     []gatewaySend
	broadcasts []madeBroadcast
	cancelled  map[string]bool   // later sends that were cancelled, by our id
	imported   map[string]string // names of the people in files, by number

	stream *streamReader
}

func (o *tenant) record(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

const greeting = `{"name":"greeting","language":"en_US","category":"UTILITY",` +
	`"components":[{"type":"BODY","text":"Your order is on its way."}]}`

func (o *tenant) endpointName(kind string) string {
	return fmt.Sprintf("%s-%s", strings.ToLower(o.name), kind)
}

func (t *trial) newTenant(name string, index int) *tenant {
	org, key := t.server.NewOrganization(name)
	o := &tenant{
		client:        newClient(t.server.URL(), key),
		trial:         t,
		name:          name,
		index:         index,
		org:           org,
		outboundLimit: rate.NewLimiter(rate.Limit(t.rate), 10),
		inboundLimit:  rate.NewLimiter(rate.Limit(t.rate/2), 10),
		hooks:         map[string]string{},
		sent:          map[string]string{},
		received:      map[string]string{},
		echoed:        map[string]bool{},
		cancelled:     map[string]bool{},
		imported:      map[string]string{},
	}
	o.stream = &streamReader{client: o.client, seen: make(map[string]bool)}

	number, waba := t.sim.AddNumber(`{"is_on_biz_app":true}`)
	t.server.ConnectNumber(org, number, waba, t.sim.AccessToken)
	o.number = number

	// What the traffic of the tenant needs.
	o.label = o.create("/labels", `{"name":"seen"}`, "")
	o.media = o.create("/"+o.number+"/media", fmt.Sprintf(`{"link":%q}`, t.receiver.picture()), "")
	o.post("/"+o.number+"/templates", greeting, "", nil)
	o.createRules()

	for _, kind := range lastingHooks {
		o.hooks[kind] = o.subscribe(o.endpointName(kind), `["*"]`)
	}
	o.subscribeNative()
	t.receiver.setMode(o.endpointName(hookShaky), modeRandom)
	return o
}

// The endpoints that are subscribed during the whole trial; each must get every event.
const (
	hookSteady = "steady"
	hookShaky  = "shaky"  // fails at random, and hangs or refuses for a while
	hookPaused = "paused" // is paused and resumed
)

var lastingHooks = []string{hookSteady, hookShaky, hookPaused}

// subscribe subscribes an endpoint and returns the id of the subscription. It is
// created paused, because the endpoint must know its secret first.
func (o *tenant) subscribe(endpoint, events string) (id string) {
	var made struct {
		ID     string
		Secret string `json:"initial_secret"`
	}
	body := fmt.Sprintf(`{"url":%q,"events":%s,"status":"paused"}`, o.trial.receiver.endpoint(endpoint), events)
	o.post("/webhook_subscriptions", body, "subscribe "+endpoint, &made)

	o.trial.receiver.addEndpoint(endpoint, made.Secret)
	o.setStatus(made.ID, "active")
	return made.ID
}

func (o *tenant) setStatus(subscription, status string) {
	body := fmt.Sprintf(`{"status":%q}`, status)
	o.call(rig.Request{Method: "PATCH", Path: "/webhook_subscriptions/" + subscription, Body: body}, nil)
}
