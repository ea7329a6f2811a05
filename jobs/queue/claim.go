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
			due, held, err := tx.ClaimDue(k.Name, limit, k.Lease, r.admission(tx, k))
			if len(due)+len(held) < limit {
				r.settleOn(tx, &k.waiting)
			}
			if k.Ahead > 0 && len(held) > 0 {
				tx.AfterCommit(r.wakeUp) // some of them may be leased ahead
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

// prepare gives jobs back what they remember, and reads what they do not.
func (r *Runner) prepare(ctx context.Context, k *kindState, jobs []storage.Job) {
	for i := range jobs {
		r.memories.give(&jobs[i])
	}
	if k.Prepare != nil && len(jobs) > 1 {
		k.Prepare(ctx, jobs)
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

// capacity is how many jobs of the kind could start now.
func (r *Runner) capacity(k *kindState) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.room(k)
}

// room is how many jobs of the kind could start now. The caller holds mu.
func (r *Runner) room(k *kindState) int {
	room := min(k.Workers-k.running, maxClaim)
	if k.Own {
		return room
	}
	return min(room, r.free)
}

// settleOn clears a flag that says that jobs wait, because the transaction takes
// them all; should it be undone, they wait still.
func (r *Runner) settleOn(tx *storage.Tx, waits *bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*waits = false
	tx.OnUndo(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		*waits = true
	})
}

// admission reserves workers for a claim, and gives them back should it be undone.
func (r *Runner) admission(tx *storage.Tx, k *kindState) func(lane string) bool {
	return func(lane string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if lane != "" && !r.admits(k, lane) {
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
	for lanes := range slices.Chunk(r.openLanes(k), lanesPerClaim) {
		var claimed, ahead []storage.Job
		err := r.DB.Update(ctx, func(tx *storage.Tx) error {
			claimed, ahead = claimed[:0], ahead[:0]
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
		for _, j := range r.arrive(k, ahead) {
			r.start(k, j)
		}
		r.mu.Lock()
		for _, lane := range lanes {
			r.forget(k, lane)
		}
		r.mu.Unlock()
	}
	return nil
}

// claimLane leases what the lane has room for, and reserves workers for it, and
// what comes next in it.
func (r *Runner) claimLane(tx *storage.Tx, k *kindState, lane string) (now, later []storage.Job, err error) {
	r.mu.Lock()
	l := r.lane(k, lane)
	room := max(0, min(r.laneRoom(l, lane), r.room(k)))
	limit := min(room+max(0, r.stock(l, lane)-len(l.ready)-l.coming), maxClaim)
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
	r.stockUp(tx, l, len(later))
	if len(held) < limit {
		r.settleOn(tx, &l.held)
	}
	return now, later, nil
}

// openLanes lists the lanes of a kind that hold jobs and could do with some.
func (r *Runner) openLanes(k *kindState) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var open []string
	for key, l := range r.lanes {
		if l.kind == k && l.held && r.wants(l, key.lane) {
			open = append(open, key.lane)
		}
	}
	return open
}

// wants tells whether a lane has use for jobs that it holds: places for them, or
// too few that come next. The caller holds mu.
func (r *Runner) wants(l *laneState, lane string) bool {
	if stock := r.stock(l, lane); stock > 0 {
		return r.low(l, lane)
	}
	return r.laneRoom(l, lane) > 0
}
