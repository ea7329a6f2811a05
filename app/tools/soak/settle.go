package main

import (
	"cmp"
	"context"
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

// settle ends the faults and waits until nothing is left to do. Work that is left all the same
// is reported.
func (t *trial) settle(ctx context.Context) {
	t.sim.Call("DELETE", "/_sim/faults", "", nil)
	deadline, cancel := context.WithTimeout(ctx, t.settleTimeout())
	defer cancel()

	t.setMode(rig.ModeTake)
	for _, one := range t.tenants {
		one.setStatus(one.hooks[hookPaused], "active")
		one.resumeBroadcasts()
	}
	t.hurryLateJobs()

	for _, one := range t.tenants {
		rig.Within(one.name, func() {
			if left := awaitNothing(deadline, t.patience(), one.findPending); left != "" {
				t.report.discrepancy("not at rest: %s: %s", one.name, left)
			}
		})
	}
	if left := awaitNothing(deadline, t.patience(), t.findWork); left != "" {
		t.report.discrepancy("not at rest: %s", left)
	}
}

// patience is how long something may be left unchanged before waiting stops: longer than
// any pause before another try of the server or of the provider.
func (t *trial) patience() time.Duration { return time.Minute + t.reconcileWindow() }

// awaitNothing repeats a search until it finds nothing. It returns what it found last if
// that does not change any more, or if ctx ends.
func awaitNothing(ctx context.Context, patience time.Duration, find func() string) (left string) {
	changed := time.Now()
	for quiet := 0; quiet < 2; {
		before := left
		left = find()

		switch {
		case left == "":
			quiet++ // twice in a row: what ended last may have caused an event
		case left != before:
			quiet, changed = 0, time.Now()
		case time.Since(changed) > patience:
			return left
		}

		if !sleep(ctx, 300*time.Millisecond) {
			return left
		}
	}
	return ""
}

// findPending names something that is not done yet, or returns "". Deliveries that were
// abandoned during a long fault are replayed, as an administrator would do.
func (o *tenant) findPending() string {
	messages := "/" + o.number + "/messages?direction=outbound&limit=100&status="
	for _, status := range []string{"queued", "pending", "delivered"} {
		if all := o.withoutUnknown(list[row](o.client, messages+status)); len(all) > 0 {
			return fmt.Sprintf("%d %s messages", len(all), status)
		}
	}
	if found := cmp.Or(o.findGoing(), o.findMissingInbound()); found != "" {
		return found
	}

	for kind, id := range o.hooks {
		o.post("/webhook_deliveries/bulk_replay", fmt.Sprintf(`{"subscription_id":%q,"status":"dead"}`, id), "", nil)
		for _, status := range []string{"pending", "failed"} {
			if n := o.countItems("/webhook_deliveries?subscription_id=" + id + "&status=" + status); n > 0 {
				return fmt.Sprintf("%d %s deliveries of %s", n, status, kind)
			}
		}
	}

	undelivered := "" // the status of some messages stays sent
	for _, m := range list[row](o.client, messages+"sent") {
		if m.Source != "app" && finalStatus(m.Type) != m.Status {
			undelivered = m.ID + ", which is sent"
		}
	}
	return undelivered
}

// countItems counts the items of a list. A caller that waits for its end sees whether it
// gets shorter.
func (o *tenant) countItems(path string) int {
	return len(list[json.RawMessage](o.client, path+"&limit=100"))
}

// findMissingInbound says how many messages of people have not arrived, or returns "".
// The provider repeats callbacks ever more slowly, so the last ones may take a while.
func (o *tenant) findMissingInbound() string {
	inbound := o.countItems("/" + o.number + "/messages?direction=inbound")

	o.mu.Lock()
	defer o.mu.Unlock()
	if inbound < len(o.received) {
		return fmt.Sprintf("%d of %d inbound messages", inbound, len(o.received))
	}
	return ""
}

// job is a job as `confab jobs list` shows it.
type job struct {
	ID        int64           `json:"id"`
	Kind      string          `json:"kind"`
	State     string          `json:"state"`
	Args      json.RawMessage `json:"args"`
	DueAt     time.Time       `json:"due_at"`
	LastError *string         `json:"last_error"`
}

func (j job) String() string {
	why := "it did not fail"
	if j.LastError != nil {
		why = *j.LastError
	}
	return fmt.Sprintf("job %d, %s, is %s, due in %s: %s", j.ID, j.Kind, j.State, time.Until(j.DueAt).Round(time.Second), why)
}

// workKinds are the jobs that messages and events need. There are others, which come
// by themselves.
var workKinds = []string{
	"send", "receipt", "deliver", "media.fetch", "send.later", "contacts.import",
	"broadcast.run", "broadcast.send", "broadcast.resume", "rules.run",
}

// work lists the jobs of workKinds that wait or run.
func (t *trial) work() (all []job) {
	rig.Check(json.Unmarshal([]byte(t.server.Command("jobs", "list", "--json", "--limit", "100000")), &all))
	return slices.DeleteFunc(all, func(j job) bool { return j.State == "failed" || !slices.Contains(workKinds, j.Kind) })
}

// findWork names a job that is left to do, or returns "".
func (t *trial) findWork() string {
	for _, j := range t.work() {
		return j.String()
	}
	return ""
}

// lateAfter is longer than any pause before another try.
const lateAfter = 3 * time.Minute

// hurryLateJobs reports the jobs that wait for a time to which only a wrong clock has
// put them, and lets them run now, as an administrator would do: so the rest of the
// audit still means something.
func (t *trial) hurryLateJobs() {
	for _, j := range t.work() {
		if j.State != "due" || time.Until(j.DueAt) < lateAfter {
			continue
		}

		if t.kills == 0 { // after many crashes a job waits on purpose
			t.report.discrepancy("waits for a time that a wrong clock showed: %s", j)
		}
		t.server.Command("jobs", "retry", strconv.FormatInt(j.ID, 10))
	}
}
