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
	refused  []string          // why sends were refused
	repeats  []acknowledged    // sends that the audit repeats
	said     []spokenText      // what was sent and must be found
	merged   []mergedPerson

	passed     []gatewaySend
	broadcasts []madeBroadcast
	cancelled  map[string]bool   // later sends that were cancelled, by our id
	imported   map[string]string // names of the people in files, by number

	stream *streamReader
}

// record changes the record.
func (o *tenant) record(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

// greeting is a template that every tenant has.
const greeting = `{"name":"greeting","language":"en_US","category":"UTILITY",` +
	`"components":[{"type":"BODY","text":"Your order is on its way."}]}`

// endpointName returns the name of an endpoint of the tenant.
func (o *tenant) endpointName(kind string) string {
	return fmt.Sprintf("%s-%s", strings.ToLower(o.name), kind)
}

// newTenant makes an organization with a key, a number and its subscriptions.
func (t *trial) newTenant(name string, index int) (*tenant, error) {
	org, key, err := t.server.NewOrganization(name)
	if err != nil {
		return nil, err
	}

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

	var number struct {
		PhoneNumberID string `json:"phone_number_id"`
		WABAID        string `json:"waba_id"`
	}
	if err := t.sim.Call("POST", "/_sim/numbers", `{"is_on_biz_app":true}`, &number); err != nil {
		return nil, err
	}

	o.number = number.PhoneNumberID
	if err := t.server.ConnectNumber(org, o.number, number.WABAID, t.sim.AccessToken); err != nil {
		return nil, err
	}
	return o, o.createResources()
}

// createResources creates what the traffic of the tenant needs: a label, a media
// file, a template, rules and the subscriptions.
func (o *tenant) createResources() (err error) {
	var made struct{ ID string }
	if err := o.post("/labels", `{"name":"seen"}`, "", &made); err != nil {
		return err
	}
	o.label = made.ID

	link := fmt.Sprintf(`{"link":%q}`, o.trial.receiver.Picture())
	if err := o.post("/"+o.number+"/media", link, "", &made); err != nil {
		return err
	}
	o.media = made.ID

	if err := o.post("/"+o.number+"/templates", greeting, "", nil); err != nil {
		return err
	}
	if err := o.createRules(); err != nil {
		return err
	}

	for _, kind := range lastingHooks {
		if o.hooks[kind], err = o.subscription(o.endpointName(kind), `["*"]`); err != nil {
			return err
		}
	}

	if err := o.subscribeNative(); err != nil {
		return err
	}
	return o.trial.receiver.SetMode(o.endpointName(hookShaky), rig.ModeRandom)
}

// The endpoints that are subscribed during the whole trial; each must get every event.
const (
	hookSteady = "steady"
	hookShaky  = "shaky"  // fails at random, and hangs or refuses for a while
	hookPaused = "paused" // is paused and resumed
)

var lastingHooks = []string{hookSteady, hookShaky, hookPaused}

// subscription subscribes an endpoint and returns the id of the subscription. It is
// created paused, because the endpoint must know its secret first.
func (o *tenant) subscription(endpoint, events string) (string, error) {
	var made struct {
		ID     string `json:"id"`
		Secret string `json:"initial_secret"`
	}

	body := fmt.Sprintf(`{"url":%q,"events":%s,"status":"paused"}`, o.trial.receiver.Endpoint(endpoint), events)
	if err := o.post("/webhook_subscriptions", body, "subscribe "+endpoint, &made); err != nil {
		return "", err
	}

	if err := o.trial.receiver.AddSecret(endpoint, made.Secret); err != nil {
		return "", err
	}
	return made.ID, o.setStatus(made.ID, "active")
}

// setStatus pauses or resumes a subscription.
func (o *tenant) setStatus(subscription, status string) error {
	body := fmt.Sprintf(`{"status":%q}`, status)
	return o.call(rig.Request{Method: "PATCH", Path: "/webhook_subscriptions/" + subscription, Body: body}, nil)
}
