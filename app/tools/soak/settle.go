package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"confab/app/tools/rig"
)

// settleTimeout is how long everything may take to be done: a trial that was longer may
// leave more of it.
func (t *trial) settleTimeout() time.Duration { return 8*time.Minute + t.length/2 }

// settle ends the faults and waits until nothing is left to do. Work that is left all the same, and does
// not change any more, is reported.
func (t *trial) settle() {
	t.sim.Call("DELETE", "/_sim/faults", "", nil)
	t.setMode(modeTake)
	for _, one := range t.tenants {
		one.setStatus(one.hooks[hookPaused], "active")
		one.resumeBroadcasts()
	}
	t.hurryLateJobs()

	left, began, changed := "", time.Now(), time.Now()
	for quiet := 0; quiet < 2; time.Sleep(300 * time.Millisecond) {
		before := left
		left = t.findLeft()

		switch {
		case left == "":
			quiet++ // twice in a row: what ended last may have caused an event
		case time.Since(began) > t.settleTimeout(), left == before && time.Since(changed) > t.patience():
			t.report.discrepancy("not at rest: %s", left)
			return
		case left != before:
			quiet, changed = 0, time.Now()
		}
	}
}

// patience is how long something may be left unchanged before waiting stops: longer than
// any pause before another try of the server or of the provider.
func (t *trial) patience() time.Duration { return time.Minute + t.reconcileWindow() }

func (t *trial) findLeft() string {
	for _, one := range t.tenants {
		if left := one.findPending(); left != "" {
			return one.name + ": " + left
		}
	}
	if left := t.work(); len(left) > 0 {
		return left[0].String()
	}
	return ""
}

// findPending names something that is not done yet, or returns "". It counts, so that it is seen whether
// that gets less. Deliveries that were abandoned during a long fault are replayed, as an administrator
// would do.
func (o *tenant) findPending() string {
	isOver := func(m row) bool { return m.Source == "app" || m.Status == finalStatus(m.Type) || o.isNowhere(m) }
	for _, status := range []string{"queued", "pending", "sent", "delivered"} {
		all := list[row](o.client, "/"+o.number+"/messages?direction=outbound&limit=100&status="+status)
		if all = slices.DeleteFunc(all, isOver); len(all) > 0 {
			return fmt.Sprintf("%d %s messages", len(all), status)
		}
	}

	// The provider repeats callbacks ever more slowly, so the last ones may take a while.
	inbound := list[struct{}](o.client, "/"+o.number+"/messages?limit=100&direction=inbound")
	if len(inbound) < len(o.received) {
		return fmt.Sprintf("%d of %d inbound messages", len(inbound), len(o.received))
	}

	for kind, id := range o.hooks {
		o.post("/webhook_deliveries/bulk_replay", fmt.Sprintf(`{"subscription_id":%q,"status":"dead"}`, id), "", nil)
		for _, status := range []string{"pending", "failed"} {
			left := list[struct{}](o.client, "/webhook_deliveries?limit=100&subscription_id="+id+"&status="+status)
			if len(left) > 0 {
				return fmt.Sprintf("%d %s deliveries of %s", len(left), status, kind)
			}
		}
	}
	return ""
}

type job struct {
	ID        int64     `json:"id"`
	Kind      string    `json:"kind"`
	State     string    `json:"state"`
	DueAt     time.Time `json:"due_at"`
	LastError string    `json:"last_error"`
}

func (j job) String() string {
	return fmt.Sprintf("job %d, %s, is %s, due in %s %s", j.ID, j.Kind, j.State, time.Until(j.DueAt).Round(time.Second), j.LastError)
}

// workKinds are the jobs that messages and events need. There are others, which come
// by themselves.
var workKinds = []string{
	"send", "receipt", "deliver", "media.fetch", "send.later", "contacts.import",
	"broadcast.run", "broadcast.send", "broadcast.resume", "rules.run",
}

func (t *trial) work() (all []job) {
	rig.Check(json.Unmarshal([]byte(t.server.Command("jobs", "list", "--json", "--limit", "100000")), &all))
	return slices.DeleteFunc(all, func(j job) bool { return j.State == "failed" || !slices.Contains(workKinds, j.Kind) })
}

// hurryLateJobs reports the jobs that wait for a time to which only a wrong clock has
// put them, and lets them run now, as an administrator would do: so the rest of the
// audit still means something.
func (t *trial) hurryLateJobs() {
	for _, j := range t.work() {
		if j.State != "due" || time.Until(j.DueAt) < 3*time.Minute { // longer than any pause before another try
			continue
		}

		if t.kills == 0 { // after many crashes a job waits on purpose
			t.report.discrepancy("waits for a time that a wrong clock showed: %s", j)
		}
		t.server.Command("jobs", "retry", strconv.FormatInt(j.ID, 10))
	}
}
