// Package attempts decides how many attempts each endpoint of a webhook may have under way.
package attempts

import (
	"slices"
	"sync"
	"time"
)

const (
	// probation is how many deliveries an endpoint must accept one by one before
	// it gets several at once; each further one that it accepts adds another.
	probation = 3
	// orderedAfterResume is how many deliveries go out one by one after a
	// subscription was resumed, so that the backlog arrives in order.
	orderedAfterResume = 250
	// backlogKept is for how long, without an attempt, a backlog must arrive in order.
	backlogKept = 24 * time.Hour
	// hangsAfter is how long an attempt takes whose endpoint counts as hanging.
	hangsAfter = time.Second
	// minWhileHanging is how many attempts a hanging endpoint may have: more than
	// one, so that a single event that it cannot process does not stop the others.
	minWhileHanging = 2
)

// Limiter decides it, by what became of the attempts before.
//
// Workers wait for endpoints, so a few endpoints that hang could occupy them all.
// Three rules prevent that. An endpoint gets several attempts at once only by
// accepting deliveries, and loses them by failing. None gets more than the
// settings allow. And while half of the workers are busy, endpoints that fail or
// hang get none at all: the other half is for the rest. While an endpoint gets
// one attempt at a time, its deliveries arrive in order.
type Limiter struct {
	perEndpoint int // most attempts under way to one subscription
	total       int // most attempts under way to all of them

	mu        sync.Mutex
	underWay  int
	endpoints map[string]*endpointState // by lane
}

// endpointState is what the latest attempts say about one endpoint.
type endpointState struct {
	credit  int         // grows with deliveries that it accepted, and falls with failures
	failing bool        // its last attempt failed
	begun   []time.Time // of the attempts under way
	changed time.Time   // when credit was last changed
}

// New makes a limiter that allows so many attempts to one endpoint, and to all together.
func New(perEndpoint, total int) *Limiter {
	return &Limiter{perEndpoint: perEndpoint, total: total, endpoints: make(map[string]*endpointState)}
}

// Limit is how many attempts of a lane may be under way now.
func (a *Limiter) Limit(lane string) int {
	a.mu.Lock()
	defer a.mu.Unlock()

	e := a.endpoints[lane]
	if e == nil {
		return min(1, a.perEndpoint)
	}

	hangs := len(e.begun) > 0 && time.Since(slices.MinFunc(e.begun, time.Time.Compare)) >= hangsAfter
	if a.underWay > a.total/2 && (hangs || e.failing) {
		return 0
	}

	least := 1
	if hangs {
		least = minWhileHanging
	}
	return min(max(e.credit-probation, least), a.perEndpoint)
}

// Resumed puts an endpoint on probation until the deliveries that waited have arrived in order.
func (a *Limiter) Resumed(lane string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.endpoint(lane)
	e.credit, e.changed = probation-orderedAfterResume, time.Now()
}

// endpoint finds or makes the state of an endpoint. The caller holds mu.
func (a *Limiter) endpoint(lane string) *endpointState {
	e := a.endpoints[lane]
	if e == nil {
		e = &endpointState{}
		a.endpoints[lane] = e
	}
	return e
}

// Begin records that an attempt is under way, and returns what records its end.
func (a *Limiter) Begin(lane string) (end func(succeeded bool)) {
	began := time.Now()

	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.endpoint(lane)
	e.begun = append(e.begun, began)
	a.underWay++

	return func(succeeded bool) {
		a.mu.Lock()
		defer a.mu.Unlock()

		a.underWay--
		i := slices.IndexFunc(e.begun, began.Equal)
		e.begun = slices.Delete(e.begun, i, i+1)
		e.failing, e.changed = !succeeded, time.Now()

		// min: a failure must not raise the negative credit of one that was resumed.
		switch {
		case succeeded:
			e.credit = min(e.credit+1, a.perEndpoint+probation)
		case time.Since(began) >= hangsAfter:
			e.credit = min(e.credit, 0)
		default:
			e.credit = min(e.credit, e.credit/2)
		}
	}
}

// ForgetIdle drops the state of endpoints without an attempt under way, among
// them those whose subscription is gone. One whose backlog must arrive in order is
// remembered for longer.
func (a *Limiter) ForgetIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()

	for lane, e := range a.endpoints {
		if len(e.begun) == 0 && (e.credit >= 0 || time.Since(e.changed) >= backlogKept) {
			delete(a.endpoints, lane)
		}
	}
}
