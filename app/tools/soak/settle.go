package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"confab/app/tools/rig"
)

// settleTimeout is how long everything may take to be done: a trial that was longer may
// leave more of it.
func (t *trial) settleTimeout() time.Duration { return 8*time.Minute + t.length/2 }

// settle ends the faults and waits until nothing is left to do. Work that is left all the same
// is reported.
func (t *trial) settle(ctx context.Context) error {
	if err := t.sim.Call("DELETE", "/_sim/faults", "", nil); err != nil {
		return err
	}

	deadline, cancel := context.WithTimeout(ctx, t.settleTimeout())
	defer cancel()

	for _, one := range t.tenants {
		if err := t.receiver.SetMode(one.endpointName(hookShaky), rig.ModeTake); err != nil {
			return err
		}
		if err := one.setStatus(one.hooks[hookPaused], "active"); err != nil {
			return err
		}
		if err := one.resumeBroadcasts(); err != nil {
			return err
		}
	}

	if err := t.hurryLateJobs(); err != nil {
		return err
	}
	for _, one := range t.tenants {
		left, err := awaitNothing(deadline, t.patience(), one.findPending)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if left != "" {
			t.report.discrepancy("not at rest: %s: %s", one.name, left)
		}
	}

	left, err := awaitNothing(deadline, t.patience(), t.findWork)
	if left != "" {
		t.report.discrepancy("not at rest: %s", left)
	}
	return err
}

// patience is how long something may be left unchanged before waiting stops: longer than
// any pause before another try of the server or of the provider.
func (t *trial) patience() time.Duration { return time.Minute + t.reconcileWindow() }

// awaitNothing repeats a search until it finds nothing. It returns what it found last if
// that does not change any more, or if ctx ends.
func awaitNothing(ctx context.Context, patience time.Duration, find func() (string, error)) (left string, err error) {
	changed := time.Now()
	for quiet := 0; quiet < 2; {
		before := left
		if left, err = find(); err != nil {
			return "", err
		}

		switch {
		case left == "":
			quiet++ // twice in a row: what ended last may have caused an event
		case left != before:
			quiet, changed = 0, time.Now()
		case time.Since(changed) > patience:
			return left, nil
		}

		if !sleep(ctx, 300*time.Millisecond) {
			return left, nil
		}
	}
	return "", nil
}

// findPending names something that is not done yet, or returns "". Deliveries that were
// abandoned during a long fault are replayed, as an administrator would do.
func (o *tenant) findPending() (string, error) {
	messages := "/" + o.number + "/messages?direction=outbound&limit=100&status="
	for _, status := range []string{"queued", "pending", "delivered"} {
		all, err := list[row](o.client, messages+status)
		if err == nil {
			all, err = o.withoutUnknown(all)
		}
		if err != nil || len(all) > 0 {
			return fmt.Sprintf("%d %s messages", len(all), status), err
		}
	}

	if going, err := o.findGoing(); err != nil || going != "" {
		return going, err
	}
	if missing, err := o.findMissingInbound(); err != nil || missing != "" {
		return missing, err
	}

	for kind, id := range o.hooks {
		body := fmt.Sprintf(`{"subscription_id":%q,"status":"dead"}`, id)
		if err := o.post("/webhook_deliveries/bulk_replay", body, "", nil); err != nil {
			return "", err
		}

		for _, status := range []string{"pending", "failed"} {
			path := "/webhook_deliveries?subscription_id=" + id + "&status=" + status
			if n, err := o.countItems(path); err != nil || n > 0 {
				return fmt.Sprintf("%d %s deliveries of %s", n, status, kind), err
			}
		}
	}
	return o.findUndelivered(messages + "sent")
}

// findUndelivered names a message with the status sent that will get another one, or
// returns "".
func (o *tenant) findUndelivered(path string) (found string, err error) {
	all, err := list[row](o.client, path)
	for _, m := range all {
		if m.Source != "app" && finalStatus(m.Type) != m.Status {
			found = m.ID + ", which is sent"
		}
	}
	return found, err
}

// countItems counts the items of a list. A caller that waits for its end sees whether it
// gets shorter.
func (o *tenant) countItems(path string) (int, error) {
	all, err := list[json.RawMessage](o.client, path+"&limit=100")
	return len(all), err
}

// findMissingInbound says how many messages of people have not arrived, or returns "".
// The provider repeats callbacks ever more slowly, so the last ones may take a while.
func (o *tenant) findMissingInbound() (string, error) {
	inbound, err := o.countItems("/" + o.number + "/messages?direction=inbound")

	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil && inbound < len(o.received) {
		return fmt.Sprintf("%d of %d inbound messages", inbound, len(o.received)), nil
	}
	return "", err
}
