package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// SemaphoreOptions are the bounds of a Semaphore.
type SemaphoreOptions struct {
	Total int64
	// Share is the most that one group may have; 0 is Total.
	Share int64
	// Strangers is the most that all strangers together may have; 0 is Total.
	Strangers int64
	// Patience is how long somebody waits at the most.
	Patience time.Duration
	// Grace is how long something is held at least before it is ended for others; 0 if it
	// never is.
	Grace time.Duration
}

// Semaphore is a fair semaphore with weights: see the package.
type Semaphore struct {
	SemaphoreOptions
	mu sync.Mutex
	ledger
	waiting   []*queue // in the order in which they are served
	knownNext bool     // whether one of the known is served next, or a stranger
}

// queue is those of one group who wait, in the order in which they came.
type queue struct {
	group   Holder
	permits []*Permit
}

// Permit is what somebody has acquired, or waits for.
type Permit struct {
	semaphore *Semaphore
	granted   chan struct{} // closed when it was acquired
	hold
}

// NewSemaphore makes a semaphore of which nothing is held.
func NewSemaphore(o SemaphoreOptions) *Semaphore {
	o.Share = cmp.Or(o.Share, o.Total)
	o.Strangers = cmp.Or(o.Strangers, o.Total)
	return &Semaphore{SemaphoreOptions: o, ledger: newLedger()}
}

// Acquire waits for room. The semaphore may call end once, later, if it has a grace; nil if
// this must not be ended. The error is ErrExhausted, or that of the context.
func (s *Semaphore) Acquire(ctx context.Context, h Holder, weight int64, end func()) (*Permit, error) {
	if weight > s.Share || !h.Known && weight > s.Strangers {
		return nil, ErrExhausted
	}
	p := &Permit{semaphore: s, granted: make(chan struct{}), hold: hold{holder: h, weight: weight, end: end}}

	s.mu.Lock()
	s.enqueue(p)
	s.grant()
	s.mu.Unlock()

	err := p.wait(ctx)
	if err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

func (p *Permit) wait(ctx context.Context) error {
	select {
	case <-p.granted:
		return nil
	default:
	}

	patience := time.NewTimer(p.semaphore.Patience)
	defer patience.Stop()
	var impatient <-chan time.Time
	if p.semaphore.Grace > 0 {
		tick := time.NewTicker(p.semaphore.Grace)
		defer tick.Stop()
		impatient = tick.C
	}

	for {
		select {
		case <-p.granted:
			return nil
		case <-impatient:
			for _, end := range p.semaphore.takeLarger(p) {
				end()
			}
		case <-patience.C:
			return ErrExhausted
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Keep makes a permit one that is not ended any more, and reports whether it was before.
func (p *Permit) Keep() (ended bool) {
	p.semaphore.mu.Lock()
	defer p.semaphore.mu.Unlock()
	p.end = nil
	return p.isEnded
}

// Release returns what was acquired, or ends the waiting. It may be called twice.
func (p *Permit) Release() {
	s := p.semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dequeue(p)
	s.remove(&p.hold)
	s.grant() // also for a permit that only waited: others may have waited after it
}

// queueOf is the index of a group's queue; -1 if there is none.
func (s *Semaphore) queueOf(group Holder) int {
	return slices.IndexFunc(s.waiting, func(q *queue) bool { return q.group == group })
}

// enqueue lets a permit wait as the last of its group.
func (s *Semaphore) enqueue(p *Permit) {
	i := s.queueOf(p.holder.whole())
	if i < 0 {
		i = len(s.waiting)
		s.waiting = append(s.waiting, &queue{group: p.holder.whole()})
	}
	s.waiting[i].permits = append(s.waiting[i].permits, p)
}

func (s *Semaphore) dequeue(p *Permit) {
	i := s.queueOf(p.holder.whole())
	if i < 0 {
		return
	}
	q := s.waiting[i]
	q.permits = slices.DeleteFunc(q.permits, func(other *Permit) bool { return other == p })
	if len(q.permits) == 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// grant admits those that are next, as long as there is room. A group that was served goes to the end.
func (s *Semaphore) grant() {
	for i := s.next(); i >= 0; i = s.next() {
		q := s.waiting[i]
		p := q.permits[0]
		if s.used+p.weight > s.Total {
			return
		}
		s.waiting = append(slices.Delete(s.waiting, i, i+1), q)
		s.knownNext = !q.group.Known

		s.dequeue(p)
		s.insert(&p.hold)
		close(p.granted)
	}
}

// next is the index of the queue to serve next: the first whose group has room in its share, of
// those whose turn it is if there is one; -1 if there is none.
func (s *Semaphore) next() int {
	first := func(known bool) int {
		return slices.IndexFunc(s.waiting, func(q *queue) bool { return q.group.Known == known && s.hasShare(q) })
	}
	if i := first(s.knownNext); i >= 0 {
		return i
	}
	return first(!s.knownNext)
}

// hasShare reports whether the share of a group has room for the first of its queue, and that
// of strangers if it is one.
func (s *Semaphore) hasShare(q *queue) bool {
	weight := q.permits[0].weight
	if !q.group.Known && s.used-s.known+weight > s.Strangers {
		return false
	}
	held := s.groups[q.group]
	return held == nil || held.weight+weight <= s.Share
}

// takeLarger returns how to end as much as a permit waits for of what larger groups have held
// for the grace.
func (s *Semaphore) takeLarger(p *Permit) (ended []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()

	var own int64
	if held := s.groups[p.holder.whole()]; held != nil {
		own = held.weight
	}
	may := func(h *hold) bool {
		return time.Since(h.since) >= s.Grace && h.group.weight > own+p.weight && (p.holder.Known || !h.holder.Known)
	}

	for freed := s.Total - s.used; freed < p.weight; {
		v := s.largest(may)
		if v == nil {
			break
		}
		freed += v.weight
		ended = append(ended, v.end)
		v.end, v.isEnded = nil, true
	}
	return ended
}
