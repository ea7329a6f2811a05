package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// settleTimeout is how long everything may take to be done.
const settleTimeout = 5 * time.Minute

// settle ends the faults and waits until nothing is left to do.
func (t *trial) settle(ctx context.Context) error {
	if err := t.sim.Call("DELETE", "/_sim/faults", "", nil); err != nil {
		return err
	}

	deadline, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()

	for _, one := range t.tenants {
		if err := t.receiver.setMode(one.endpointName(hookShaky), modeTake); err != nil {
			return err
		}
		if err := one.setStatus(one.hooks[hookPaused], "active"); err != nil {
			return err
		}

		if err := one.awaitIdle(deadline); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// awaitIdle waits until every message has its final status and every delivery is made.
// Deliveries that were given up during a long fault are replayed, as an administrator
// would do.
func (o *tenant) awaitIdle(ctx context.Context) error {
	for quiet := 0; quiet < 2; {
		left, err := o.findPending()
		if err != nil {
			return err
		}

		if left == "" {
			quiet++ // twice in a row: what ended last may have caused an event
		} else {
			quiet = 0
		}

		if !sleep(ctx, 300*time.Millisecond) {
			return errors.New("not at rest: " + left)
		}
	}
	return nil
}

// findPending names something that is not done yet, or returns "".
func (o *tenant) findPending() (string, error) {
	for _, path := range []string{"/" + o.number + "/messages?status=queued", "/" + o.number + "/messages?status=pending"} {
		if some, err := o.hasItems(path); err != nil || some {
			return path, err
		}
	}

	if missing, err := o.findMissingInbound(); err != nil || missing != "" {
		return missing, err
	}

	for kind, id := range o.hooks {
		body := fmt.Sprintf(`{"subscription_id":%q,"status":"dead"}`, id)
		if err := o.callOK("POST", "/webhook_deliveries/bulk_replay", body, "", nil); err != nil {
			return "", err
		}

		for _, status := range []string{"pending", "failed"} {
			path := "/webhook_deliveries?subscription_id=" + id + "&status=" + status
			if some, err := o.hasItems(path); err != nil || some {
				return kind + " " + status, err
			}
		}
	}
	return "", nil
}

// hasItems reports whether a list has an item.
func (o *tenant) hasItems(path string) (bool, error) {
	a, err := o.callUntilAnswered("GET", path+"&limit=1", "", "")
	if err != nil {
		return false, err
	}

	var page []json.RawMessage
	err = json.Unmarshal(a.body.Data, &page)
	return len(page) > 0, err
}

// findMissingInbound says how many messages of people have not arrived, or returns "".
// The provider repeats callbacks ever more slowly, so the last ones may take a while.
func (o *tenant) findMissingInbound() (string, error) {
	inbound := 0
	err := o.eachItem("/"+o.number+"/messages?limit=100&direction=inbound", func(json.RawMessage) error { inbound++; return nil })

	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil && inbound < len(o.received) {
		return fmt.Sprintf("%d of %d inbound messages", inbound, len(o.received)), nil
	}
	return "", err
}
