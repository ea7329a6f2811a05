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

type client struct{ rig.Client }

func newClient(base, key string) *client {
	return &client{rig.Client{Base: base + "/v1", Key: key, Timeout: 5 * time.Second}}
}

type answer struct {
	status     int
	Data       json.RawMessage
	NextCursor *string `json:"next_cursor"`
	Error      struct{ Code, Message string }
}

// answerTime is how long an answer may take. After a machine was lost there is no server until
// all that it had is restored, on a machine that is busy.
const answerTime = 10 * time.Minute

// callUntilAnswered repeats a request until it is answered: the server may be down, or
// its disk full.
func (c *client) callUntilAnswered(r rig.Request) (a answer) {
	repeatUntil(c.Client, r, answerTime, func(status int, text []byte) bool {
		a = answer{status: status}
		err := json.Unmarshal(text, &a)
		return err == nil && a.Error.Code != "service_unavailable" && a.Error.Code != "idempotency_in_progress"
	})
	return a
}

// repeatUntil repeats a request until its answer is one, and fails after a time. It does not stop when
// the trial ends, because then it would be unknown whether the request was carried out.
func repeatUntil(c rig.Client, r rig.Request, most time.Duration, isAnswer func(status int, text []byte) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	for last := ""; ; time.Sleep(20 * time.Millisecond) {
		status, text, err := c.Do(ctx, r)
		rig.Require(ctx.Err() == nil, "%s %s %.200q was never answered; at last: %s", r.Method, r.Path, r.Body, last)
		if err == nil && isAnswer(status, text) {
			return
		}
		last = fmt.Sprintf("%d %.200q %v", status, text, err)
	}
}

// call repeats a request until it is answered, fails unless the answer is a success, and
// reads its data into out, unless that is nil.
func (c *client) call(r rig.Request, out any) { c.callAllowing("", r, out) }

const notFound = "resource_not_found"

// callAllowing is call for a request that may be refused with one error, and says whether
// it was.
func (c *client) callAllowing(code string, r rig.Request, out any) (isRefused bool) {
	a := c.callUntilAnswered(r)
	if a.status >= 300 && a.Error.Code == code {
		return true
	}
	rig.Require(a.status < 300, "%s %s: %d %v (%.300s)", r.Method, r.Path, a.status, a.Error, r.Body)
	if out != nil {
		rig.Check(json.Unmarshal(a.Data, out))
	}
	return false
}

func (c *client) get(path string, out any) { c.call(rig.Request{Method: "GET", Path: path}, out) }

func (c *client) post(path, body, idempotency string, out any) {
	c.call(rig.Request{Method: "POST", Path: path, Body: body, IdempotencyKey: idempotency}, out)
}

func (c *client) create(path, body, idempotency string) string {
	var made struct{ ID string }
	c.post(path, body, idempotency, &made)
	return made.ID
}

// list returns all items of a list, page by page. The path has a query.
func list[T any](c *client, path string) (all []T) {
	for next := ""; ; {
		a := c.callUntilAnswered(rig.Request{Method: "GET", Path: path + next})
		var page []T
		err := json.Unmarshal(a.Data, &page)
		rig.Require(err == nil, "GET %s: %d %v: %w", path, a.status, a.Error, err)
		all = append(all, page...)
		if a.NextCursor == nil {
			return all
		}
		next = "&cursor=" + *a.NextCursor
	}
}

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
func repeat(ctx context.Context, least, most int, do func(n int)) {
	for n := 0; sleep(ctx, time.Duration(least+rand.IntN(most-least))*time.Millisecond); n++ {
		do(n)
	}
}

// clients are what goes on for every tenant at the same time, each again and again.
var clients = []struct {
	least, most int // milliseconds between two
	do          func(o *tenant, ctx context.Context, n int)
}{
	{20, 80, (*tenant).readList},
	{100, 500, (*tenant).labelContact},
	{500, 2000, (*tenant).changeSubscriptions},
	{200, 800, (*tenant).mergePerson},
	{200, 1200, (*tenant).broadcast},
	{100, 500, (*tenant).sendLater},
	{500, 2000, (*tenant).importContacts},
}

func (o *tenant) checkOwnership(item json.RawMessage) {
	for _, match := range numberPattern.FindAllSubmatch(item, -1) {
		rig.Require(string(match[1]) == o.number, "%s was shown something of number %s", o.name, match[1])
	}
}

// readList reads the first page of a list or of a search, as a console would. All of it must be the tenant's.
func (o *tenant) readList(_ context.Context, _ int) {
	lists := []string{"messages", "conversations", "contacts", "messages?status=failed", "conversations?status=open"}
	path := lists[rand.IntN(len(lists))]
	if rand.IntN(4) == 0 {
		path = "messages?search=" + url.QueryEscape(searchFor[rand.IntN(len(searchFor))])
	}

	var page json.RawMessage
	o.get("/"+o.number+"/"+path, &page)
	o.checkOwnership(page)
}

var searchFor = []string{"number", "hello wor", `"is number"`, "promis", "order way", `"`, "a* OR b", "nothing like it", "é", "NEAR("}

func (o *tenant) labelContact(_ context.Context, _ int) {
	var page []struct{ ID string }
	o.get("/"+o.number+"/contacts?limit=20", &page)
	if len(page) == 0 {
		return
	}

	path := "/" + o.number + "/contacts/" + page[rand.IntN(len(page))].ID + "/labels"
	change := rig.Request{Method: "POST", Path: path, Body: fmt.Sprintf(`{"label_id":%q}`, o.label)}
	if rand.IntN(2) == 0 {
		change = rig.Request{Method: "DELETE", Path: path + "/" + o.label}
	}
	o.callAllowing(notFound, change, nil) // it may have become one with another since it was listed
}

func (o *tenant) changeSubscriptions(ctx context.Context, n int) {
	passing := o.subscribe(o.endpointName(fmt.Sprint("passing-", n)), `["message.received","message.status"]`)
	o.setStatus(o.hooks[hookPaused], "paused")
	sleep(ctx, time.Duration(500+rand.IntN(2000))*time.Millisecond)
	o.setStatus(o.hooks[hookPaused], "active")

	// A request that is repeated after a crash may have deleted it already.
	o.callAllowing(notFound, rig.Request{Method: "DELETE", Path: "/webhook_subscriptions/" + passing}, nil)
}
