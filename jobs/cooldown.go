package jobs

import (
	"context"
	"sync"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/storage"
)

// trialPause is how long a message waits for the one that goes first after a cooldown.
const trialPause = 2 * time.Second

// cooldownTrials knows which accounts try a message after their cooldown. An account whose
// time is over keeps it until the provider has taken a message: so one goes first and finds
// out whether the limit still holds, and those that waited do not leave all at once.
type cooldownTrials struct {
	mu sync.Mutex
	of map[int64]bool // by account
}

func newCooldownTrials() *cooldownTrials { return &cooldownTrials{of: make(map[int64]bool)} }

// begin reserves the trial of an account. It returns false if another message has it.
func (t *cooldownTrials) begin(account int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.of[account] {
		return false
	}
	t.of[account] = true
	return true
}

func (t *cooldownTrials) end(account int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, account)
}

// awaitTrial lets one message of an account go first after a cooldown, and postpones the
// others until what became of it is stored. Retries within the cooldown go as they are due.
func (w *Workers) awaitTrial(ctx context.Context, out outgoing) error {
	s := out.sender
	if s.CooldownUntil == 0 || messaging.IsCoolingDown(s.CooldownUntil, w.DB.Now()) {
		return nil
	}
	if !w.trials.begin(s.ID) {
		return queue.Postpone(trialPause)
	}
	queue.OnSettled(ctx, func() { w.trials.end(s.ID) })

	// Another message may have had the trial after this one has read its account.
	now, err := w.DB.Sender(ctx, s.ID)
	if err == nil && now.CooldownUntil != s.CooldownUntil {
		return queue.Postpone(0)
	}
	return err
}

// endCooldown ends the cooldown of an account that is over, now that a message was taken.
func endCooldown(tx *storage.Tx, s storage.Sender) error {
	if s.CooldownUntil == 0 || messaging.IsCoolingDown(s.CooldownUntil, tx.Now) {
		return nil
	}
	return tx.EndCooldown(s.ID, s.CooldownUntil)
}
