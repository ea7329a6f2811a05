package queue

import (
	"time"

	"confab/storage"
)

// kindState is a kind and what it is doing.
type kindState struct {
	Kind
	running int
	// waiting says that due jobs may lie in the database that nobody has claimed.
	// It is set by Admit and cleared by a claim, both on the writer, so that it
	// is exact: new jobs queue up behind those that wait, and only then.
	waiting bool
	nextRun storage.Time // of a periodic kind
}

// laneKey names a lane: those of two kinds have nothing to do with each other.
type laneKey struct{ kind, lane string }

// laneState is a lane that has something running or held.
type laneState struct {
	kind    *kindState
	running int
	held    bool          // jobs lie in the database waiting for a place; exact as waiting is
	ready   []storage.Job // leased before their turn, which comes in this order
	coming  int           // will be ready once their lease is durable
	closed  bool          // when last looked at
}

// idle tells that there is nothing to remember of the lane.
func (l *laneState) idle() bool {
	return l.running == 0 && !l.held && len(l.ready) == 0 && l.coming == 0
}

// laneRoom is how many more jobs the lane takes. The caller holds mu.
func (r *Runner) laneRoom(l *laneState, lane string) int {
	closed := r.DB.LaneClosed(lane)
	if l.closed && !closed && l.kind.Opened != nil {
		l.kind.Opened(lane)
	}
	l.closed = closed
	switch {
	case closed:
		return 0
	case l.kind.Lane == nil:
		return l.kind.Workers - l.running
	default:
		return l.kind.Lane(lane) - l.running
	}
}

// Admit implements storage.Dispatcher. A job behind held ones is held too, so
// that a lane stays in order.
func (r *Runner) Admit(kind, lane string) (storage.Admission, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[kind]
	if k == nil {
		return storage.AdmitLater, 0
	}
	if lane != "" && r.accepting && !r.admits(k, lane) {
		return storage.AdmitHeld, 0
	}
	if !r.accepting || r.room(k) <= 0 || k.waiting {
		k.waiting = true
		r.forget(k, lane)
		return storage.AdmitLater, 0
	}
	r.reserve(k, lane)
	return storage.AdmitNow, k.Lease
}

// Withdraw implements storage.Dispatcher.
func (r *Runner) Withdraw(kind, lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.withdraw(r.kinds[kind], lane)
}

// withdraw gives back a reservation that no run used. The caller holds mu.
func (r *Runner) withdraw(k *kindState, lane string) {
	r.release(k, lane)
	r.group.Done()
}

// admits tells whether a lane has room for another job; if not, that one is held
// behind those that wait already. The caller holds mu.
func (r *Runner) admits(k *kindState, lane string) bool {
	l := r.lane(k, lane)
	l.held = l.held || len(l.ready) > 0 || l.coming > 0 || r.laneRoom(l, lane) <= 0
	return !l.held
}

// Wait implements storage.Dispatcher.
func (r *Runner) Wait(j storage.Job) {
	if j.Memory != nil {
		r.memories.keep(j)
	}
	r.wakeUp()
}

// Look implements storage.Dispatcher.
func (r *Runner) Look() { r.wakeUp() }

// Stored implements storage.Dispatcher.
func (r *Runner) Stored(kind string, due storage.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[kind]
	if k == nil {
		return
	}
	if due <= storage.Now() {
		k.waiting = true
	} else {
		r.nextDue = earlier(r.nextDue, due)
	}
	r.wakeUp()
}

// reserve takes a worker and a place in the lane, and makes drain wait for what
// comes of it. The caller holds mu.
func (r *Runner) reserve(k *kindState, lane string) {
	r.group.Add(1)
	if !k.Own {
		r.free--
	}
	k.running++
	if lane != "" {
		r.lane(k, lane).running++
	}
}

// release gives back what reserve took. The caller holds mu.
func (r *Runner) release(k *kindState, lane string) {
	if !k.Own {
		r.free++
	}
	k.running--
	if lane != "" {
		l := r.lane(k, lane)
		l.running--
		if l.held && r.low(l, lane) {
			r.starved = true
		}
		r.forget(k, lane)
	}
	if r.starved {
		r.starved = false
		r.wakeUp()
	}
}

// lane finds or makes a lane. The caller holds mu.
func (r *Runner) lane(k *kindState, lane string) *laneState {
	key := laneKey{k.Name, lane}
	l := r.lanes[key]
	if l == nil {
		l = &laneState{kind: k}
		r.lanes[key] = l
	}
	return l
}

// forget drops a lane that has nothing to remember. The caller holds mu.
func (r *Runner) forget(k *kindState, lane string) {
	key := laneKey{k.Name, lane}
	if l := r.lanes[key]; l != nil && l.idle() {
		delete(r.lanes, key)
	}
}

// earlier is the earlier of two times, either of which may be "never".
func earlier(a, b storage.Time) storage.Time {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
