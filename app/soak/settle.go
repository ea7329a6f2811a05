package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// settlePatience is how long everything may take to come to rest.
const settlePatience = 5 * time.Minute

// settle takes the faults away and waits until nothing is under way.
func (t *trial) settle(ctx context.Context) error {
	if err := t.sim.Call("DELETE", "/_sim/faults", "", nil); err != nil {
		return err
	}
	deadline, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	for _, one := range t.tenants {
		if err := t.receiver.behave(one.hook(hookShaky), modeTake); err != nil {
			return err
		}
		if err := one.setStatus(one.hooks[hookPaused], "active"); err != nil {
			return err
		}
		if err := one.rest(deadline); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// rest waits until every message is at its end and every delivery made. What
// died of a long fault is replayed, as an admin would.
func (o *tenant) rest(ctx context.Context) error {
	for quiet := 0; quiet < 2; {
		left, err := o.underWay()
		if err != nil {
			return err
		}
		if left == "" {
			quiet++ // twice: what ended last may have made an event
		} else {
			quiet = 0
		}
		if !pause(ctx, 300*time.Millisecond) {
			return errors.New("not at rest: " + left)
		}
	}
	return nil
}

// underWay names something that is not at its end, or nothing.
func (o *tenant) underWay() (string, error) {
	for _, path := range []string{"/" + o.number + "/messages?status=queued", "/" + o.number + "/messages?status=pending"} {
		if some, err := o.any(path); err != nil || some {
			return path, err
		}
	}
	if missing, err := o.unheard(); err != nil || missing != "" {
		return missing, err
	}
	for kind, id := range o.hooks {
		body := fmt.Sprintf(`{"subscription_id":%q,"status":"dead"}`, id)
		if err := o.done("POST", "/webhook_deliveries/bulk_replay", body, "", nil); err != nil {
			return "", err
		}
		for _, status := range []string{"pending", "failed"} {
			path := "/webhook_deliveries?subscription_id=" + id + "&status=" + status
			if some, err := o.any(path); err != nil || some {
				return kind + " " + status, err
			}
		}
	}
	return "", nil
}

// any tells whether a list has an item.
func (o *tenant) any(path string) (bool, error) {
	a, err := o.insist("GET", path+"&limit=1", "", "")
	if err != nil {
		return false, err
	}
	var page []json.RawMessage
	err = json.Unmarshal(a.body.Data, &page)
	return len(page) > 0, err
}

// unheard names a message of a person's that has not arrived, or nothing. The
// provider repeats callbacks ever more slowly, so the last ones may take a while.
func (o *tenant) unheard() (string, error) {
	inbound := 0
	err := o.each("/"+o.number+"/messages?limit=100&direction=inbound", func(json.RawMessage) error { inbound++; return nil })
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil && inbound < len(o.received) {
		return fmt.Sprintf("%d of %d inbound messages", inbound, len(o.received)), nil
	}
	return "", err
}
