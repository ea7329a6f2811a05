package jobs

import (
	"context"
	"sync"

	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/storage"
)

// cooldownTrials knows which accounts try a message after their cooldown. An account whose
// time is over keeps it until the provider has taken a message: so one goes first and finds
// out whether the limit still holds, and those that waited do not leave all at once. The lanes
// in which they wait are suspended meanwhile, so that they are not leased again and again.
type cooldownTrials struct {
	db *storage.DB
	mu sync.Mutex
	of map[int64]map[string]bool // the suspended lanes of each account that tries one
}

// isBusy reports whether a message of an account is being tried. Then a lane in which others
// are is suspended until that is over.
func (t *cooldownTrials) isBusy(account int64, lane string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	lanes, busy := t.of[account]
	if busy {
		lanes[lane] = true
		t.db.SuspendLane(lane)
	}
	return busy
}

// begin reserves the trial of an account. It returns false if another message has it.
func (t *cooldownTrials) begin(account int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if _, busy := t.of[account]; busy {
		return false
	}
	t.of[account] = make(map[string]bool)
	return true
}

func (t *cooldownTrials) end(account int64) {
	t.mu.Lock()
	defer t.mu.Unlock()

	for lane := range t.of[account] {
		t.db.ContinueLane(lane)
	}
	delete(t.of, account)
}

// needsTrial reports whether one message of an account goes first: its cooldown is over, and
// none has been taken since. Retries within the cooldown go as they are due.
func (w *Workers) needsTrial(s storage.Sender) bool {
	return s.CooldownUntil != 0 && !messaging.IsCoolingDown(s.CooldownUntil, w.DB.Now())
}

// awaitTrial puts a message back while another one of its account is tried.
func (w *Workers) awaitTrial(job storage.Job, out outgoing) error {
	if w.needsTrial(out.sender) && w.trials.isBusy(out.sender.ID, job.Lane) {
		return queue.Postpone(0) // it waits in its lane
	}
	return nil
}

// beginTrial lets one message of an account go first after a cooldown, and puts the others
// back until what became of it is stored. It is called right before the call: a file may have
// been uploaded before.
func (w *Workers) beginTrial(ctx context.Context, out outgoing) error {
	s := out.sender
	if !w.needsTrial(s) {
		return nil
	}
	if !w.trials.begin(s.ID) {
		return queue.Postpone(0) // it asks again, and then waits in its lane
	}
	queue.OnSettled(ctx, func() { w.trials.end(s.ID) })

	// Another message may have had the trial after this one has read its account.
	now, err := w.DB.Sender(ctx, s.ID)
	if err == nil && now.CooldownUntil != s.CooldownUntil {
		return queue.Postpone(0)
	}
	return err
}
