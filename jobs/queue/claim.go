package queue

import (
	"context"

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
			claimed = due
			return err
		})
		if err != nil {
			return err
		}
		for _, j := range claimed {
			r.start(k, j)
		}
	}
	return nil
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
	return min(r.free, k.Workers-k.running, maxClaim)
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

// claimHeld fills the lanes that have room again.
func (r *Runner) claimHeld(ctx context.Context) error {
	for lane, l := range r.openLanes() {
		r.mu.Lock()
		k := l.kind
		limit := min(l.room(lane), r.room(k))
		for range limit {
			r.reserve(k, lane)
		}
		r.starved = r.starved || limit <= 0
		r.mu.Unlock()
		if limit <= 0 {
			continue
		}
		var claimed []storage.Job
		err := r.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			claimed, err = tx.ClaimHeld(lane, limit, k.Lease)
			if len(claimed) < limit {
				r.settleOn(tx, &l.held)
			}
			return err
		})
		if err != nil {
			claimed = nil
		}
		r.mu.Lock()
		for range limit - len(claimed) {
			r.withdraw(k, lane)
		}
		r.mu.Unlock()
		if err != nil {
			return err
		}
		for _, j := range claimed {
			r.start(k, j)
		}
	}
	return nil
}

// openLanes returns the lanes that hold jobs and have room for some.
func (r *Runner) openLanes() map[string]*laneState {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := make(map[string]*laneState)
	for lane, l := range r.lanes {
		if l.held && l.room(lane) > 0 {
			open[lane] = l
		}
	}
	return open
}
