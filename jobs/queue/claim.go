package queue

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"

	"confab/storage"
)

// maxRounds bounds how often a kind claims before the next kind may: under
// load workers become free as fast as they are used.
const maxRounds = 8

// claimDue claims jobs of a kind until none is due or no worker is free; those with lanes are held.
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

		r.locked(func() { k.dueKnown = false })
		r.startClaimed(ctx, k, claimed)
	}
	return nil
}

// startClaimed starts jobs that were leased just now, and for which workers were reserved.
func (r *Runner) startClaimed(ctx context.Context, k *kindState, jobs []storage.Job) {
	r.prepare(ctx, k, jobs)
	r.startAll(k, jobs)
}

// prepare fills in the Memory of jobs: with what was known when they were
// enqueued, or with what Kind.Preload reads.
func (r *Runner) prepare(ctx context.Context, k *kindState, jobs []storage.Job) {
	for i := range jobs {
		r.memory.restore(&jobs[i])
	}
	if k.Preload == nil || len(jobs) < 2 {
		return
	}

	defer func() { // after a panic the jobs read for themselves
		if p := recover(); p != nil {
			r.Log.Error("preload panicked", "kind", k.Name, "error", p, "stack", string(debug.Stack()))
		}
	}()
	k.Preload(ctx, jobs)
}

// canClaim reports whether jobs of the kind wait, and one can have a worker or be held.
func (r *Runner) canClaim(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	room := r.room(k) > 0
	r.starved = r.starved || (k.waiting && !room)
	return k.waiting && (room || k.LaneLimit != nil)
}

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
	r.locked(func() { *flag = false })
	tx.OnUndo(func() { r.locked(func() { *flag = true }) })
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

	r.startClaimed(ctx, k, claimed)
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
		r.locked(func() { r.reserve(k, lane) })
		tx.OnUndo(func() { r.Withdraw(k.Name, lane) })
	}

	r.locked(func() { l.leasing += len(later) })
	tx.OnUndo(func() { r.locked(func() { l.leasing -= len(later) }) })

	// Fewer than asked for: the lane holds no more.
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
