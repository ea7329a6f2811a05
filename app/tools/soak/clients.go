package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// checkOwnership fails if an item of a list belongs to another tenant.
func (o *tenant) checkOwnership(item json.RawMessage) error {
	for _, match := range rig.NumberPattern.FindAllSubmatch(item, -1) {
		if string(match[1]) != o.number {
			return fmt.Errorf("%s was shown something of number %s", o.name, match[1])
		}
	}
	return nil
}

// readLists keeps reading the first pages of lists, as a console would.
func (o *tenant) readLists(ctx context.Context, random *rand.Rand) error {
	lists := []string{"messages", "conversations", "contacts", "messages?status=failed", "conversations?status=open"}

	for sleep(ctx, time.Duration(20+random.IntN(60))*time.Millisecond) {
		a, err := o.callUntilAnswered("GET", "/"+o.number+"/"+lists[random.IntN(len(lists))], "", "")
		if err != nil {
			return err
		}
		if a.status != 200 {
			return fmt.Errorf("a list was answered with %d %s", a.status, a.body.Error.Code)
		}

		if err := o.checkOwnership(a.body.Data); err != nil {
			return err
		}

		o.mu.Lock()
		o.reads++
		o.mu.Unlock()
	}
	return nil
}

// labelContacts keeps adding a label to contacts and removing it again.
func (o *tenant) labelContacts(ctx context.Context, random *rand.Rand) error {
	for sleep(ctx, time.Duration(100+random.IntN(400))*time.Millisecond) {
		a, err := o.callUntilAnswered("GET", "/"+o.number+"/contacts?limit=20", "", "")
		if err != nil {
			return err
		}

		var page []struct{ ID string }
		if err := json.Unmarshal(a.body.Data, &page); err != nil || len(page) == 0 {
			continue // there is no contact yet
		}

		contact := "/" + o.number + "/contacts/" + page[random.IntN(len(page))].ID + "/labels"
		if random.IntN(2) == 0 {
			a, err = o.callUntilAnswered("POST", contact, fmt.Sprintf(`{"label_id":%q}`, o.label), "")
		} else {
			a, err = o.callUntilAnswered("DELETE", contact+"/"+o.label, "", "")
		}

		// The contact may have become one with another since it was listed.
		if err != nil || a.status >= 300 && a.status != 404 {
			return fmt.Errorf("labelling a contact: %d %s: %w", a.status, a.body.Error.Code, err)
		}
	}
	return nil
}

// changeSubscriptions keeps creating and deleting subscriptions, and pausing and resuming
// another one.
func (o *tenant) changeSubscriptions(ctx context.Context, random *rand.Rand) error {
	for n := 0; sleep(ctx, time.Duration(500+random.IntN(1500))*time.Millisecond); n++ {
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
		a, err := o.callUntilAnswered("DELETE", "/webhook_subscriptions/"+passing, "", "")
		if err != nil || a.status != 200 && a.status != 404 {
			return fmt.Errorf("deleting a subscription: %d %s: %w", a.status, a.body.Error.Code, err)
		}
	}
	return nil
}
