package queue

import (
	"context"
	"runtime/debug"

	"confab/storage"
)

// maxRounds bounds how often a kind claims before the next kind may: under
// load workers become free as fast as they are used.
const maxRounds = 8

// claimDue claims jobs of a kind until none is due or no worker is free. Those of a
// kind with lanes are held then.
func (r *Runner) claimDue(ctx context.Context, k *kindState) error {
	for round := 0; r.canClaim(k); round++ {
		if round == maxRounds {
			r.signal()
			return nil
		}

		var claimed []storage.Job

		err := r.DB.Update(ctx, func(tx *storage.Tx) error {
			limit := r.claimLimit(k) // on the writer: more may be free by now
			due, held, err := tx.ClaimDue(k.Name, limit, k.Lease, r.admitClaimed(tx, k))

			// Fewer than asked for: the claim took all that was due.
			if len(due)+len(held) < limit {
				r.clearWaiting(tx, &k.waiting)
			}
			if k.LeaseAhead > 0 && len(held) > 0 {
				tx.AfterCommit(r.signal) // some of them may be leased ahead
			}

			claimed = due
			return err
		})
		if err != nil {
			return err
		}

		r.mu.Lock()
		k.dueKnown = false
		r.mu.Unlock()

		r.prepare(ctx, k, claimed)
		r.startAll(k, claimed)
	}
	return nil
}

// prepare fills in the Memory of jobs: with what was known when they were
// enqueued, or with what Kind.Preload reads.
func (r *Runner) prepare(ctx context.Context, k *kindState, jobs []storage.Job) {
	for i := range jobs {
		r.memory.restore(&jobs[i])
	}

	if k.Preload != nil && len(jobs) > 1 {
		r.preload(ctx, k, jobs)
	}
}

// preload calls Kind.Preload. After a panic the jobs read for themselves.
func (r *Runner) preload(ctx context.Context, k *kindState, jobs []storage.Job) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("preload panicked", "kind", k.Name, "error", p, "stack", string(debug.Stack()))
		}
	}()
	k.Preload(ctx, jobs)
}

// canClaim reports whether jobs of the kind wait, and a worker is free for one or it
// can be held.
func (r *Runner) canClaim(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	room := r.room(k) > 0
	r.starved = r.starved || (k.waiting && !room)
	return k.waiting && (room || k.LaneLimit != nil)
}

// claimLimit is how many due jobs a claim may take.
func (r *Runner) claimLimit(k *kindState) int {
	r.mu.Lock()
	defer r.mu.Unlock()

	if room := r.room(k); room > 0 || k.LaneLimit == nil {
		return room
	}
	return maxClaim
}

// room is how many more workers the kind can have now. The caller holds mu.
func (r *Runner) room(k *kindState) int {
	return min(max(0, k.Reserved-k.running)+r.free, k.Workers-k.running, maxClaim)
}

// clearWaiting clears a flag that says that jobs wait (kindState.waiting or
// laneState.held), because the transaction claims all of them. The flag is set
// again if the transaction is undone.
func (r *Runner) clearWaiting(tx *storage.Tx, flag *bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	*flag = false
	tx.OnUndo(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		*flag = true
	})
}

// admitClaimed returns what decides about each job of a claim: it reserves a
// worker, which is given back if the transaction is undone, or says that the job
// must be held.
func (r *Runner) admitClaimed(tx *storage.Tx, k *kindState) func(lane string) bool {
	return func(lane string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()

		if lane != "" && !r.admitToLane(k, lane) {
			return false
		}
		if r.room(k) <= 0 {
			r.hold(k, lane)
			return false
		}

		r.reserve(k, lane)
		tx.OnUndo(func() { r.Withdraw(k.Name, lane) })
		return true
	}
}
