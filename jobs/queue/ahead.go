package queue

import (
	"context"

	"confab/storage"
)

// stock is how many jobs of a lane may be leased before their turn. It shrinks
// with the lane: one that is slow or closed has none. The caller holds mu.
func (r *Runner) stock(l *laneState, lane string) int {
	if l.kind.Ahead == 0 || l.kind.Lane == nil || r.DB.LaneClosed(lane) {
		return 0
	}
	return max(0, l.kind.Lane(lane)) * l.kind.Ahead
}

// low tells whether it is time to claim for the lane again. The caller holds mu.
func (r *Runner) low(l *laneState, lane string) bool {
	return 2*(len(l.ready)+l.coming) <= r.stock(l, lane)
}

// stockUp notes that a claim has leased jobs before their turn, and forgets it
// should it be undone. The caller does not hold mu.
func (r *Runner) stockUp(tx *storage.Tx, l *laneState, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.coming += n
	tx.OnUndo(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		l.coming -= n
	})
}

// arrive takes in jobs that were leased before their turn, now that this is
// durable, and returns those whose turn has come meanwhile.
func (r *Runner) arrive(k *kindState, jobs []storage.Job) (next []storage.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range jobs {
		l := r.lane(k, j.Lane)
		l.coming--
		l.ready = append(l.ready, j)
	}
	for _, j := range jobs {
		next = append(next, r.turn(k, j.Lane)...)
	}
	return next
}

// turn takes the jobs of a lane whose turn has come, and reserves a worker for
// each. The caller holds mu, and starts them when it does no longer.
func (r *Runner) turn(k *kindState, lane string) (next []storage.Job) {
	l := r.lanes[laneKey{k.Name, lane}]
	for l != nil && len(l.ready) > 0 && r.accepting && r.laneRoom(l, lane) > 0 {
		if r.room(k) <= 0 {
			r.starved = true
			break
		}
		next = append(next, l.ready[0])
		l.ready = l.ready[1:]
		r.reserve(k, lane)
	}
	return next
}

// takeTurns starts the jobs of a kind whose turn has come without anybody having
// noticed, and puts those back that were leased for a lane that has become slow
// or was closed: their lease would be over before their turn.
func (r *Runner) takeTurns(ctx context.Context, k *kindState) error {
	if k.Ahead == 0 {
		return nil
	}
	var next, back []storage.Job
	r.mu.Lock()
	for key, l := range r.lanes {
		if l.kind != k || len(l.ready) == 0 {
			continue
		}
		next = append(next, r.turn(k, key.lane)...)
		if keep := r.stock(l, key.lane); len(l.ready) > keep {
			back = append(back, l.ready[keep:]...)
			l.ready, l.held = l.ready[:keep], true
		}
	}
	r.mu.Unlock()
	for _, j := range next {
		r.start(k, j)
	}
	return r.putBack(ctx, back)
}

// putBack makes jobs held again that were leased before their turn.
func (r *Runner) putBack(ctx context.Context, jobs []storage.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	return r.DB.Update(ctx, func(tx *storage.Tx) error { return tx.HoldJobs(jobs) })
}

// putAllBack makes every job held again whose turn has not come: the runner is
// stopping.
func (r *Runner) putAllBack() {
	var back []storage.Job
	r.mu.Lock()
	for _, l := range r.lanes {
		back = append(back, l.ready...)
		l.ready = nil
	}
	r.mu.Unlock()
	if err := r.putBack(context.Background(), back); err != nil {
		r.Log.Warn("put jobs back", "error", err) // the next start frees them
	}
}

// drop forgets a job that was to have its turn, if there is such a one. The
// caller holds mu.
func (r *Runner) drop(id int64) {
	for _, l := range r.lanes {
		for i, j := range l.ready {
			if j.ID == id {
				l.ready = append(l.ready[:i:i], l.ready[i+1:]...)
				return
			}
		}
	}
}
