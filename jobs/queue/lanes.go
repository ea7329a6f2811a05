package queue

import (
	"time"

	"confab/storage"
)

type kindState struct {
	Kind
	running int // workers that are reserved for it or run its jobs
	// waiting says that the database may have due jobs that are not claimed.
	// It is set by Admit and cleared by a claim, both on the writer, so that it
	// is exact: a new job is stored as due if others wait, and only then.
	waiting bool
	nextRun time.Time // of a periodic kind; only the loop uses it
	// due is when its next job is due, or earlier than that, and 0 for none. It is
	// read again only when that may have changed otherwise than by a job that Stored
	// reports: dueKnown is false then.
	due      storage.Time
	dueKnown bool
}

// laneKey names a lane. Lanes of two kinds are independent of each other.
type laneKey struct{ kind, lane string }

// laneState is a lane that has running, ready or held jobs.
type laneState struct {
	kind    *kindState
	running int
	held    bool          // the database has held jobs of the lane; exact as waiting is
	ready   []storage.Job // leased ahead, in the order in which they start
	leasing int           // will be ready once their lease is durable
	// returning were ready and will not start: they are to be held again. They stay
	// here until that is durable. Only the loop and then drain use them.
	returning []storage.Job
	closed    bool // when last looked at
	turn      int  // when it last claimed held jobs, in claims of lanes
}

// leasesAhead reports whether jobs of the lane are leased that do not run.
func (l *laneState) leasesAhead() bool { return len(l.ready)+l.leasing+len(l.returning) > 0 }

// laneRoom is how many more jobs of the lane may run. It calls Kind.OnLaneOpened when
// it finds that the lane was opened. The caller holds mu.
func (r *Runner) laneRoom(l *laneState, lane string) int {
	closed := r.DB.LaneClosed(lane)
	if l.closed && !closed && l.kind.OnLaneOpened != nil {
		l.kind.OnLaneOpened(lane)
	}
	l.closed = closed

	switch {
	case closed:
		return 0
	case l.kind.LaneLimit == nil:
		return l.kind.Workers - l.running
	default:
		return l.kind.LaneLimit(lane) - l.running
	}
}

// Admit implements storage.Dispatcher. It is called on the writer. A job is held
// after held ones of its lane, and due after due ones of its kind, so that both
// stay in order. If no worker is free, a job of a kind with lanes is held.
func (r *Runner) Admit(j storage.Job) (storage.Admission, time.Duration) {
	k, lane := r.kinds[j.Kind], j.Lane
	if k == nil {
		return storage.AdmitLater, 0
	}
	if k.Turn != nil {
		if wait := k.Turn(j); wait > 0 {
			return storage.AdmitLater, wait
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if lane != "" && r.accepting && !r.admitToLane(k, lane) {
		return storage.AdmitHeld, 0
	}

	room := r.room(k) > 0
	switch {
	case r.accepting && room && !k.waiting:
		r.reserve(k, lane)
		return storage.AdmitNow, k.Lease
	case r.accepting && !k.waiting && k.LaneLimit != nil:
		r.hold(k, lane)
		return storage.AdmitHeld, 0
	}

	k.waiting = true
	r.forgetIfIdle(k, lane)
	return storage.AdmitLater, 0
}

// hold marks that a job waits in its lane for a worker. Lanes share the workers, so
// that a lane with few jobs need not wait for those with many. The caller holds mu.
func (r *Runner) hold(k *kindState, lane string) {
	r.lane(k, lane).held = true
	r.starved = true
}

// Withdraw implements storage.Dispatcher: it gives back a reservation that no run used.
func (r *Runner) Withdraw(kind, lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release(r.kinds[kind], lane)
	r.group.Done()
}

// admitToLane reports whether a lane has room for another job and no other waits
// for it. If not, the caller holds the job, and the lane counts as having held
// jobs from now on. The caller holds mu.
func (r *Runner) admitToLane(k *kindState, lane string) bool {
	l := r.lane(k, lane)
	l.held = l.held || l.leasesAhead() || r.laneRoom(l, lane) <= 0
	return !l.held
}

// Wait implements storage.Dispatcher: the job was stored as due or held.
func (r *Runner) Wait(j storage.Job) {
	if j.Memory != nil {
		r.memory.keep(j)
	}
	r.signal()
}

// Busy implements storage.Dispatcher. A lane with no jobs of any sort is forgotten.
func (r *Runner) Busy(kind, lane string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lanes[laneKey{kind, lane}] != nil
}

// Unsettled implements storage.Dispatcher.
func (r *Runner) Unsettled(kind, lane string, before int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	for id, current := range r.running {
		if id < before && current.job.Lane == lane && current.job.Kind == kind {
			return true
		}
	}
	return false
}

// Look implements storage.Dispatcher: a lane was opened.
func (r *Runner) Look() { r.signal() }

// Stored implements storage.Dispatcher: a job became due without Admit.
func (r *Runner) Stored(kind string, due storage.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	k := r.kinds[kind]
	if k == nil {
		return
	}

	// A job that is due after the next wake-up needs none of its own.
	if due > r.DB.Now() {
		k.due = earlier(k.due, due)
		if r.sleepsUntil == 0 || due >= r.sleepsUntil {
			return
		}
	} else {
		k.waiting = true
	}
	r.signal()
}

// reserve takes a worker, one of the kind's own first, and a place in the lane, and
// makes drain wait for the run. The caller holds mu.
func (r *Runner) reserve(k *kindState, lane string) {
	r.group.Add(1)
	if k.running >= k.Reserved {
		r.free--
	}
	k.running++
	if lane != "" {
		r.lane(k, lane).running++
	}
}

// release gives back the worker and the place that reserve took, and wakes the
// loop if jobs wait for them. The caller holds mu.
func (r *Runner) release(k *kindState, lane string) {
	k.running--
	if k.running >= k.Reserved {
		r.free++
	}

	if lane != "" {
		l := r.lane(k, lane)
		l.running--
		if l.held && r.shouldRefill(l, lane) {
			r.starved = true
		}
		r.forgetIfIdle(k, lane)
	}

	if r.starved {
		r.starved = false
		r.signal()
	}
}

// lane finds or makes a lane. The caller holds mu.
func (r *Runner) lane(k *kindState, lane string) *laneState {
	key := laneKey{k.Name, lane}
	l := r.lanes[key]
	if l == nil {
		l = &laneState{kind: k, turn: r.turns}
		r.lanes[key] = l
	}
	return l
}

// forgetIfIdle deletes the state of a lane without jobs. The caller holds mu.
func (r *Runner) forgetIfIdle(k *kindState, lane string) {
	key := laneKey{k.Name, lane}
	if l := r.lanes[key]; l != nil && l.running == 0 && !l.held && !l.leasesAhead() {
		delete(r.lanes, key)
	}
}
