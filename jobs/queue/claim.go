package queue

import (
	"context"
	"slices"

	"confab/storage"
)

// claimDue claims jobs of a kind until none is due or no worker is free.
func (r *Runner) claimDue(ctx context.Context, k *kindState) error {
	for r.canClaim(k) {
		var claimed []storage.Job

		err := r.DB.Update(ctx, func(tx *storage.Tx) error {
			limit := r.capacity(k) // on the writer: more may be free by now
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

		r.prepare(ctx, k, claimed)
		for _, j := range claimed {
			r.start(k, j)
		}
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
		k.Preload(ctx, jobs)
	}
}

// canClaim tells whether jobs of the kind wait and a worker is free for one.
func (r *Runner) canClaim(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	room := r.room(k) > 0
	r.starved = r.starved || (k.waiting && !room)
	return k.waiting && room
}

// capacity is room for a caller that does not hold mu.
func (r *Runner) capacity(k *kindState) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.room(k)
}

// room is how many more workers the kind can have now. The caller holds mu.
func (r *Runner) room(k *kindState) int {
	room := min(k.Workers-k.running, maxClaim)
	if k.OwnWorkers {
		return room
	}
	return min(room, r.free)
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

		r.reserve(k, lane)
		tx.OnUndo(func() { r.Withdraw(k.Name, lane) })
		return true
	}
}

// lanesPerClaim bounds the lanes that are looked at in one transaction.
const lanesPerClaim = 64

// claimHeld fills the lanes of a kind that have room again.
func (r *Runner) claimHeld(ctx context.Context, k *kindState) error {
	for lanes := range slices.Chunk(r.claimableLanes(k), lanesPerClaim) {
		var claimed, ahead []storage.Job

		err := r.DB.Update(ctx, func(tx *storage.Tx) error {
			claimed, ahead = claimed[:0], ahead[:0] // the writer may run this twice

			for _, lane := range lanes {
				now, later, err := r.claimLane(tx, k, lane)
				if err != nil {
					return err
				}
				claimed, ahead = append(claimed, now...), append(ahead, later...)
			}
			return nil
		})
		if err != nil {
			return err
		}

		r.prepare(ctx, k, claimed)
		for _, j := range claimed {
			r.start(k, j)
		}

		r.prepare(ctx, k, ahead)
		for _, j := range r.addReady(k, ahead) {
			r.start(k, j)
		}

		r.mu.Lock()
		for _, lane := range lanes {
			r.forgetIfIdle(k, lane)
		}
		r.mu.Unlock()
	}
	return nil
}

// claimLane leases the held jobs that the lane has room for, with a worker
// reserved for each, and those that are leased ahead.
func (r *Runner) claimLane(tx *storage.Tx, k *kindState, lane string) (now, later []storage.Job, err error) {
	r.mu.Lock()
	l := r.lane(k, lane)
	room := max(0, min(r.laneRoom(l, lane), r.room(k)))
	limit := min(room+max(0, r.aheadLimit(l, lane)-len(l.ready)-l.leasing), maxClaim)
	r.starved = r.starved || limit <= 0
	r.mu.Unlock()

	if limit <= 0 {
		return nil, nil, nil
	}

	held, err := tx.ClaimHeld(k.Name, lane, limit, k.Lease)
	if err != nil {
		return nil, nil, err
	}

	now, later = held[:min(room, len(held))], held[min(room, len(held)):]
	for range now {
		r.mu.Lock()
		r.reserve(k, lane)
		r.mu.Unlock()
		tx.OnUndo(func() { r.Withdraw(k.Name, lane) })
	}

	// Fewer than asked for: the lane holds no more.
	r.countLeasing(tx, l, len(later))
	if len(held) < limit {
		r.clearWaiting(tx, &l.held)
	}
	return now, later, nil
}

// claimableLanes lists the lanes of a kind that have held jobs and room for some.
func (r *Runner) claimableLanes(k *kindState) []string {
	r.mu.Lock()
	defer r.mu.Unlock()

	var open []string
	for key, l := range r.lanes {
		if l.kind == k && l.held && r.shouldClaim(l, key.lane) {
			open = append(open, key.lane)
		}
	}
	return open
}

// shouldClaim tells whether held jobs of a lane should be claimed now: because
// it has free places, or too few jobs leased ahead. The caller holds mu.
func (r *Runner) shouldClaim(l *laneState, lane string) bool {
	if r.aheadLimit(l, lane) > 0 {
		return r.shouldRefill(l, lane)
	}
	return r.laneRoom(l, lane) > 0
}
