package queue

import (
	"context"

	"confab/storage"
)

// aheadLimit is how many jobs of a lane may be leased ahead. It shrinks with the
// lane's limit; a closed lane has 0. The caller holds mu.
func (r *Runner) aheadLimit(l *laneState, lane string) int {
	if l.kind.LeaseAhead == 0 || l.kind.LaneLimit == nil || r.DB.LaneClosed(lane) {
		return 0
	}
	return max(0, l.kind.LaneLimit(lane)) * l.kind.LeaseAhead
}

// shouldRefill reports whether at most half of the jobs that may be leased ahead
// are there, so that it is time to claim more. The caller holds mu.
func (r *Runner) shouldRefill(l *laneState, lane string) bool {
	return 2*(len(l.ready)+l.leasing) <= r.aheadLimit(l, lane)
}

// addReady adds jobs whose lease ahead is durable, and returns those that can start at once.
func (r *Runner) addReady(k *kindState, jobs []storage.Job) (next []storage.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, j := range jobs {
		l := r.lane(k, j.Lane)
		l.leasing--
		l.ready = append(l.ready, j)
	}

	for _, j := range jobs {
		next = append(next, r.takeReady(k, j.Lane)...)
	}
	return next
}

// takeReady takes the ready jobs that a lane has room for, and reserves a worker
// for each. The caller holds mu, and starts them after it has unlocked it.
func (r *Runner) takeReady(k *kindState, lane string) (next []storage.Job) {
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

// startReady starts ready jobs whose lane has got room other than by the end of a
// run. Ready jobs beyond the limit of a lane that became slow or was closed are
// held again: their lease would expire before they run.
func (r *Runner) startReady(ctx context.Context, k *kindState) error {
	if k.LeaseAhead == 0 {
		return nil
	}

	var next, back []storage.Job
	r.mu.Lock()
	for key, l := range r.lanes {
		if l.kind != k || len(l.ready)+len(l.returning) == 0 {
			continue
		}
		next = append(next, r.takeReady(k, key.lane)...)
		l.keepReady(r.aheadLimit(l, key.lane))
		back = append(back, l.returning...)
	}
	r.mu.Unlock()

	r.startAll(k, next)
	return r.holdJobs(ctx, back)
}

// keepReady marks the ready jobs beyond n as returning. The caller holds mu.
func (l *laneState) keepReady(n int) {
	if len(l.ready) > n {
		l.returning = append(l.returning, l.ready[n:]...)
		l.ready = l.ready[:n:n]
	}
}

// holdJobs makes all returning jobs of some lanes held again. If that fails they
// are still returning, and the next pass tries again.
func (r *Runner) holdJobs(ctx context.Context, jobs []storage.Job) error {
	if len(jobs) == 0 {
		return nil
	}

	err := r.DB.Update(ctx, func(tx *storage.Tx) error {
		r.eachLane(jobs, func(l *laneState) { l.held = true })
		return tx.HoldJobs(jobs)
	})
	if err != nil {
		return err
	}

	r.eachLane(jobs, func(l *laneState) { l.returning = nil })
	return nil
}

// eachLane calls change for the lane of each job. The caller does not hold mu.
func (r *Runner) eachLane(jobs []storage.Job, change func(*laneState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range jobs {
		change(r.lane(r.kinds[j.Kind], j.Lane))
	}
}

// holdAllReady makes all ready jobs held again, because the runner stops. It tries
// until that succeeds or the grace time is over.
func (r *Runner) holdAllReady() {
	var back []storage.Job
	r.mu.Lock()
	for _, l := range r.lanes {
		l.keepReady(0)
		back = append(back, l.returning...)
	}
	r.mu.Unlock()

	for {
		err := r.holdJobs(context.Background(), back)
		if err == nil {
			return
		}

		r.Log.Warn("could not return jobs to the queue", "error", err)
		if !Pause(r.base, pauseAfterFault) {
			return // the next start frees them
		}
	}
}
