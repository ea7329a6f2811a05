package queue

import (
	"context"
	"time"

	"confab/storage"
)

// The clock of a sandbox can be moved ahead by days, which makes many jobs of all kinds due at
// once. They start in the order of their times, as they would have if time had passed, and not
// kind by kind:
//
//   - Before the move every kind is marked as waiting, so that a job which is made meanwhile is
//     stored as due, at the new time, and starts after those that were due before.
//   - Until all of those have started, claimInOrder takes the place of claimAll: it walks over
//     the due jobs of all kinds, oldest first, and claims one at a time.
//   - A job for which no worker is free, or whose lane is full, is waited for, with all that
//     are due later. But a lane that stays full for slowAfter, such as that of an endpoint that
//     does not answer, no longer keeps the others; its own jobs stay in order.

// slowAfter is how long the jobs of all kinds wait for one that cannot start.
const slowAfter = 2 * time.Second

// Move is a move of the clock.
type Move struct {
	By time.Duration
	// Apply moves the clock. No job is claimed meanwhile.
	Apply func(context.Context) error
	// Before is called before a job starts, with the time at which it was due, so that what is
	// not in this queue and was due before can start first.
	Before func(storage.Time)
}

// move is a move from when the loop has taken it until all that became due has started. Only
// the loop uses what is not a channel.
type move struct {
	Move
	applied chan error    // has one slot
	started chan struct{} // closed when all that became due was claimed

	until storage.Time     // jobs that were due by then start in order
	first storage.DueJob   // the job that the others wait for,
	since time.Time        // from this time on
	waits bool             // as of the last pass
	slow  map[laneKey]bool // what is not waited for any more; without a lane: the whole kind
}

// MoveClock moves the clock, and returns how many jobs were claimed since. It waits until that
// are all that became due, or until ctx ends: the others start later, in their order.
func (r *Runner) MoveClock(ctx context.Context, wanted Move) (started int, err error) {
	m := &move{Move: wanted, applied: make(chan error, 1), started: make(chan struct{}), slow: make(map[laneKey]bool)}
	before := r.begun.Load()

	select {
	case r.moves <- m:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := <-m.applied; err != nil {
		return 0, err
	}

	select {
	case <-m.started:
	case <-ctx.Done():
	}
	return int(r.begun.Load() - before), nil
}

// beginMove moves the clock. What is periodic has as much less time to wait.
func (r *Runner) beginMove(ctx context.Context, m *move) {
	r.markWaiting()
	err := m.Apply(ctx)
	m.applied <- err
	if err != nil {
		return
	}

	for _, k := range r.order {
		if !k.nextRun.IsZero() {
			k.nextRun = k.nextRun.Add(-m.By)
		}
	}
	if r.move != nil {
		close(r.move.started) // this one goes on with what is left of it
	}
	m.until, r.move = r.DB.Now(), m
}

// claimInOrder claims what is due of all kinds, in the order of their times, until one has to
// be waited for. Jobs that are held were due before.
func (r *Runner) claimInOrder(ctx context.Context) error {
	if err := claim(ctx, r.order, r.startReady, r.claimHeld); err != nil {
		return err
	}

	r.move.waits = false
	full, left := make(map[laneKey]bool), false
	for after := (storage.DueJob{}); ; {
		page, err := storage.Query(ctx, r.DB, func(rx *storage.Rx) ([]storage.DueJob, error) { return rx.DueJobs(after, maxClaim) })
		if err != nil {
			return err
		}

		for _, j := range page {
			started, err := r.claimInTurn(ctx, j, full)
			if err != nil || r.move.waits {
				return err
			}
			left = left || !started && j.DueAt <= r.move.until
		}
		if len(page) < maxClaim {
			break
		}
		after = page[len(page)-1]
	}

	if !left {
		close(r.move.started)
		r.move = nil
		r.signal() // claimAll finds that nothing waits
	}
	return nil
}

// claimInTurn claims a job whose turn it is, if it can be, or adds what has no room to full.
func (r *Runner) claimInTurn(ctx context.Context, j storage.DueJob, full map[laneKey]bool) (bool, error) {
	k := r.kinds[j.Kind]
	if k == nil {
		return true, nil // of another version: nothing here starts it
	}
	if full[laneKey{j.Kind, ""}] || full[laneKey{j.Kind, j.Lane}] {
		return false, nil
	}

	if by, isFull := r.findFull(k, j.Lane); isFull {
		full[by] = true
		r.waitForTurn(j, by)
		return false, nil
	}

	r.move.Before(j.DueAt)
	var claimed []storage.Job
	err := r.DB.Update(ctx, func(tx *storage.Tx) (err error) {
		claimed, _, err = tx.ClaimJob(j.ID, k.Lease, r.admitClaimed(tx, k))
		return err
	})
	if err == nil {
		r.startClaimed(ctx, k, claimed)
	}
	return true, err
}

// findFull finds what has no room for a job: its kind, or its lane. A closed lane is not
// waited for: the claim holds its jobs.
func (r *Runner) findFull(k *kindState, lane string) (by laneKey, isFull bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch {
	case r.room(k) <= 0:
		by.kind = k.Name
	case lane != "" && !r.DB.LaneClosed(lane):
		l := r.lane(k, lane)
		if l.held || l.leasesAhead() || r.laneRoom(l, lane) <= 0 {
			by = laneKey{k.Name, lane}
		}
		r.forgetIfIdle(k, lane)
	}

	isFull = by != laneKey{}
	r.starved = r.starved || isFull // the next worker that is free wakes the loop
	return by, isFull
}

// waitForTurn makes the pass end at a job that cannot start, unless that has taken too long.
func (r *Runner) waitForTurn(j storage.DueJob, by laneKey) {
	m := r.move
	if j.DueAt > m.until || m.slow[by] {
		return
	}

	if m.first.ID != j.ID {
		m.first, m.since = j, time.Now()
	}
	m.waits = time.Since(m.since) < slowAfter
	m.slow[by] = !m.waits
}
