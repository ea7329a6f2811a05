package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// pause waits, unless the trial ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// foreign reports an item of a list that belongs to another tenant.
func (o *tenant) foreign(item json.RawMessage) error {
	for _, match := range numberPattern.FindAllSubmatch(item, -1) {
		if string(match[1]) != o.number {
			return fmt.Errorf("%s was shown something of number %s", o.name, match[1])
		}
	}
	return nil
}

// read keeps reading the first pages of lists, as a console does.
func (o *tenant) read(ctx context.Context, random *rand.Rand) error {
	lists := []string{"messages", "conversations", "contacts", "messages?status=failed", "conversations?status=open"}
	for pause(ctx, time.Duration(20+random.IntN(60))*time.Millisecond) {
		a, err := o.insist("GET", "/"+o.number+"/"+lists[random.IntN(len(lists))], "", "")
		if err != nil {
			return err
		}
		if a.status != 200 {
			return fmt.Errorf("a list was answered with %d %s", a.status, a.body.Error.Code)
		}
		if err := o.foreign(a.body.Data); err != nil {
			return err
		}
		o.mu.Lock()
		o.reads++
		o.mu.Unlock()
	}
	return nil
}

// tag keeps attaching a label to contacts and taking it off again.
func (o *tenant) tag(ctx context.Context, random *rand.Rand) error {
	for pause(ctx, time.Duration(100+random.IntN(400))*time.Millisecond) {
		a, err := o.insist("GET", "/"+o.number+"/contacts?limit=20", "", "")
		if err != nil {
			return err
		}
		var page []struct{ ID string }
		if err := json.Unmarshal(a.body.Data, &page); err != nil || len(page) == 0 {
			continue // nobody there yet
		}
		contact := "/" + o.number + "/contacts/" + page[random.IntN(len(page))].ID + "/labels"
		if random.IntN(2) == 0 {
			err = o.done("POST", contact, fmt.Sprintf(`{"label_id":%q}`, o.label), "", nil)
		} else {
			err = o.done("DELETE", contact+"/"+o.label, "", "", nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// subscribe lets subscriptions come and go, and pauses one for a while.
func (o *tenant) subscribe(ctx context.Context, random *rand.Rand) error {
	for n := 0; pause(ctx, time.Duration(500+random.IntN(1500))*time.Millisecond); n++ {
		passing, err := o.subscription(o.hook(fmt.Sprint("passing-", n)), `["message.received","message.status"]`)
		if err != nil {
			return err
		}
		if err := o.setStatus(o.hooks[hookPaused], "paused"); err != nil {
			return err
		}
		pause(ctx, time.Duration(500+random.IntN(2000))*time.Millisecond)
		if err := o.setStatus(o.hooks[hookPaused], "active"); err != nil {
			return err
		}
		// Repeated after a crash, it may be gone already.
		if a, err := o.insist("DELETE", "/webhook_subscriptions/"+passing, "", ""); err != nil || a.status != 200 && a.status != 404 {
			return fmt.Errorf("deleting a subscription: %d %s: %w", a.status, a.body.Error.Code, err)
		}
	}
	return nil
}
