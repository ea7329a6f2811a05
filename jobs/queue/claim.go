package queue

import (
	"context"

	"confab/storage"
)

// claimDue claims jobs of a kind until none is due or no worker is free.
func (r *Runner) claimDue(ctx context.Context, k *kindState) error {
	for {
		r.mu.Lock()
		limit := min(r.free, k.Workers-k.running, maxClaim)
		wanted := k.waiting && limit > 0
		r.starved = r.starved || (k.waiting && limit <= 0)
		if wanted {
			k.waiting = false // set again by whoever stores another one
		}
		r.mu.Unlock()
		if !wanted {
			return nil
		}
		var claimed, held []storage.Job
		err := r.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			claimed, held, err = tx.ClaimDue(k.Name, limit, k.Lease, r.admission(tx, k))
			return err
		})
		r.mu.Lock()
		if err != nil || len(claimed)+len(held) == limit {
			k.waiting = true // there may be more
		}
		for _, j := range held {
			r.lane(k, j.Lane).held = true
		}
		r.mu.Unlock()
		if err != nil {
			return err
		}
		for _, j := range claimed {
			r.start(k, j)
		}
	}
}

// admission reserves workers for a claim, and gives them back should it be undone.
func (r *Runner) admission(tx *storage.Tx, k *kindState) func(lane string) bool {
	return func(lane string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if lane != "" {
			if l := r.lane(k, lane); l.held || l.room(lane) <= 0 {
				r.forget(lane, l)
				return false
			}
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
		limit := min(l.room(lane), r.free, k.Workers-k.running, maxClaim)
		for range limit {
			r.reserve(k, lane)
		}
		r.starved = r.starved || limit <= 0
		stored := l.stored
		r.mu.Unlock()
		if limit <= 0 {
			continue
		}
		var claimed []storage.Job
		err := r.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			claimed, err = tx.ClaimHeld(lane, limit, k.Lease)
			return err
		})
		r.mu.Lock()
		l.held = err != nil || len(claimed) == limit || l.stored != stored
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
