package queue

import (
	"cmp"
	"context"
	"slices"

	"confab/storage"
)

// lanesPerClaim bounds the lanes that are looked at in one transaction.
const lanesPerClaim = 64

// claimHeld fills the lanes of a kind that have room again. If workers are too few
// for all of them, each lane gets the same share, and the rest of them in the next
// round.
func (r *Runner) claimHeld(ctx context.Context, k *kindState) error {
	for range maxRounds {
		open, share := r.claimableLanes(k)
		if len(open) == 0 {
			return nil
		}

		for lanes := range slices.Chunk(open, lanesPerClaim) {
			if r.isStarved(k) {
				return nil
			}
			if err := r.claimLanes(ctx, k, lanes, share); err != nil {
				return err
			}
		}

		if k.LeaseAhead > 0 { // further jobs start by takeReady
			return nil
		}
	}

	r.signal()
	return nil
}

// claimLanes claims held jobs of some lanes in one transaction, and starts them.
func (r *Runner) claimLanes(ctx context.Context, k *kindState, lanes []string, share int) error {
	var claimed, ahead []storage.Job

	err := r.DB.Update(ctx, func(tx *storage.Tx) error {
		claimed, ahead = claimed[:0], ahead[:0] // the writer may run this twice

		for _, lane := range lanes {
			now, later, err := r.claimLane(tx, k, lane, share)
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
	r.startAll(k, claimed)

	r.prepare(ctx, k, ahead)
	r.startAll(k, r.addReady(k, ahead))

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, lane := range lanes {
		r.forgetIfIdle(k, lane)
	}
	return nil
}

// claimLane leases the held jobs that the lane has room for, at most as many as its
// share, with a worker reserved for each, and those that are leased ahead.
func (r *Runner) claimLane(tx *storage.Tx, k *kindState, lane string, share int) (now, later []storage.Job, err error) {
	r.mu.Lock()
	l := r.lane(k, lane)
	room := max(0, min(r.laneRoom(l, lane), r.room(k), share))
	limit := min(room+max(0, r.aheadLimit(l, lane)-len(l.ready)-l.leasing), maxClaim)
	if limit > 0 {
		r.turns++
		l.turn = r.turns
	} else {
		r.starved = true
	}
	r.mu.Unlock()

	if limit <= 0 {
		return nil, nil, nil
	}

	held, err := tx.ClaimHeld(k.Name, lane, limit, room, k.Lease)
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

// claimableLanes lists the lanes of a kind that have held jobs and room for some,
// and how many jobs each may claim now. Those with the fewest running jobs come
// first, and of these the one that has waited longest.
func (r *Runner) claimableLanes(k *kindState) (open []string, share int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for key, l := range r.lanes {
		if l.kind == k && l.held && r.shouldClaim(l, key.lane) {
			open = append(open, key.lane)
		}
	}
	if k.LeaseAhead > 0 || len(open) < 2 {
		return open, maxClaim
	}

	slices.SortFunc(open, func(a, b string) int {
		x, y := r.lanes[laneKey{k.Name, a}], r.lanes[laneKey{k.Name, b}]
		return cmp.Or(cmp.Compare(x.running, y.running), cmp.Compare(x.turn, y.turn))
	})
	return open, max(1, r.room(k)/len(open))
}

// isStarved reports whether no worker is free for held jobs of the kind, and makes the
// next one that becomes free wake the loop.
func (r *Runner) isStarved(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	if k.LeaseAhead > 0 || r.room(k) > 0 {
		return false
	}
	r.starved = true
	return true
}

// shouldClaim reports whether held jobs of a lane should be claimed now: because
// it has free places, or too few jobs leased ahead. The caller holds mu.
func (r *Runner) shouldClaim(l *laneState, lane string) bool {
	if r.aheadLimit(l, lane) > 0 {
		return r.shouldRefill(l, lane)
	}
	return r.laneRoom(l, lane) > 0
}
