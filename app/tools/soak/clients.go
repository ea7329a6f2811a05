package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"confab/app/tools/rig"
)

// sleep waits, and returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// repeat calls do until ctx ends, each time after a pause of so many milliseconds.
func repeat(ctx context.Context, random *rand.Rand, least, most int, do func(n int) error) error {
	for n := 0; sleep(ctx, time.Duration(least+random.IntN(most-least))*time.Millisecond); n++ {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

// clients are what goes on for every tenant at the same time, each again and again.
var clients = []struct {
	least, most int // milliseconds between two
	do          func(o *tenant, ctx context.Context, random *rand.Rand, n int) error
}{
	{20, 80, (*tenant).readList},
	{100, 500, (*tenant).labelContact},
	{500, 2000, (*tenant).changeSubscriptions},
	{200, 800, (*tenant).mergePerson},
	{200, 1200, (*tenant).broadcast},
	{100, 500, (*tenant).sendLater},
	{500, 2000, (*tenant).importContacts},
	{100, 400, (*tenant).search},
}

// checkOwnership fails if an item of a list belongs to another tenant.
func (o *tenant) checkOwnership(item json.RawMessage) error {
	for _, match := range rig.NumberPattern.FindAllSubmatch(item, -1) {
		if string(match[1]) != o.number {
			return fmt.Errorf("%s was shown something of number %s", o.name, match[1])
		}
	}
	return nil
}

// readList reads the first page of a list, as a console would.
func (o *tenant) readList(_ context.Context, random *rand.Rand, _ int) error {
	lists := []string{"messages", "conversations", "contacts", "messages?status=failed", "conversations?status=open"}
	return o.readPage(lists[random.IntN(len(lists))], "lists read")
}

// searchFor are the searches that people make.
var searchFor = []string{"number", "hello wor", `"is number"`, "promis", "order way", `"`, "a* OR b", "nothing like it", "é", "NEAR("}

// search searches messages, as people at a console do.
func (o *tenant) search(_ context.Context, random *rand.Rand, _ int) error {
	return o.readPage("messages?search="+url.QueryEscape(searchFor[random.IntN(len(searchFor))]), "searches")
}

// readPage reads a page, all of which must be the tenant's, and counts it as something.
func (o *tenant) readPage(path, what string) error {
	var page json.RawMessage
	if err := o.get("/"+o.number+"/"+path, &page); err != nil {
		return err
	}
	o.trial.count(what)
	return o.checkOwnership(page)
}

// labelContact adds a label to a contact or removes it again.
func (o *tenant) labelContact(_ context.Context, random *rand.Rand, _ int) error {
	var page []struct{ ID string }
	if err := o.get("/"+o.number+"/contacts?limit=20", &page); err != nil || len(page) == 0 {
		return err
	}

	path := "/" + o.number + "/contacts/" + page[random.IntN(len(page))].ID + "/labels"
	change := rig.Request{Method: "POST", Path: path, Body: fmt.Sprintf(`{"label_id":%q}`, o.label)}
	if random.IntN(2) == 0 {
		change = rig.Request{Method: "DELETE", Path: path + "/" + o.label}
	}

	// The contact may have become one with another since it was listed.
	_, err := o.callAllowing(notFound, change, nil)
	return err
}

// changeSubscriptions creates and deletes a subscription, and pauses and resumes another one
// meanwhile.
func (o *tenant) changeSubscriptions(ctx context.Context, random *rand.Rand, n int) error {
	passing, err := o.subscription(o.endpointName(fmt.Sprint("passing-", n)), `["message.received","message.status"]`)
	if err != nil {
		return err
	}

	if err := o.setStatus(o.hooks[hookPaused], "paused"); err != nil {
		return err
	}
	sleep(ctx, time.Duration(500+random.IntN(2000))*time.Millisecond)
	if err := o.setStatus(o.hooks[hookPaused], "active"); err != nil {
		return err
	}

	// A request that is repeated after a crash may have deleted it already.
	_, err = o.callAllowing(notFound, rig.Request{Method: "DELETE", Path: "/webhook_subscriptions/" + passing}, nil)
	return err
}
