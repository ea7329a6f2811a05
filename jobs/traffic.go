package jobs

import (
	"slices"
	"sync"
	"time"
)

const (
	// deliveriesAtOnce is how many attempts may be under way to all endpoints
	// together: what they hold of memory is bounded by it.
	deliveriesAtOnce = 2048
	// proof is how many deliveries an endpoint takes one by one before it gets
	// several at once; each further one that it takes adds another.
	proof = 3
	// waitedInOrder is how many go out one by one from a subscription that was resumed,
	// so that what waited arrives in the order in which it happened.
	waitedInOrder = 250
	// slow is how long an attempt may take before its endpoint seems to hang.
	slow = time.Second
	// beside is how many an endpoint gets all the same while it seems to hang:
	// more than one, so that an event that it chokes on does not stop the others.
	beside = 2
)

// traffic decides how many attempts each subscription may have under way.
//
// Workers wait for endpoints, so those of a few endpoints that hang could come
// to hold them all. Three things prevent that. An endpoint gets several attempts
// at once only by taking what it is sent, and loses them by failing. None gets
// more than the settings allow. And while half of the workers are out, those
// that fail or seem to hang get none at all: the other half is for the rest.
// What an endpoint gets one by one, it also gets in order.
type traffic struct {
	most int // attempts under way to one subscription
	pool int // attempts under way to all of them

	mu    sync.Mutex
	busy  int
	flows map[string]*flow // by lane
}

// flow is what is known of one endpoint.
type flow struct {
	credit  int  // what it took lately
	failing bool // its last attempt failed
	begun   []time.Time
}

func newTraffic(most, pool int) *traffic {
	return &traffic{most: most, pool: pool, flows: make(map[string]*flow)}
}

// allowed is how many attempts of a lane may be under way now.
func (t *traffic) allowed(lane string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.flows[lane]
	if f == nil {
		return min(1, t.most)
	}
	hangs := len(f.begun) > 0 && time.Since(slices.MinFunc(f.begun, time.Time.Compare)) >= slow
	if t.busy > t.pool/2 && (hangs || f.failing) {
		return 0
	}
	least := 1
	if hangs {
		least = beside
	}
	return min(max(f.credit-proof, least), t.most)
}

// resumed makes an endpoint prove itself anew, and get what waited in order.
func (t *traffic) resumed(lane string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flow(lane).credit = proof - waitedInOrder
}

// flow finds or makes what is known of an endpoint. The caller holds mu.
func (t *traffic) flow(lane string) *flow {
	f := t.flows[lane]
	if f == nil {
		f = &flow{}
		t.flows[lane] = f
	}
	return f
}

// begin notes that an attempt is under way, and returns how to note its end.
func (t *traffic) begin(lane string) (end func(succeeded bool)) {
	began := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.flow(lane)
	f.begun = append(f.begun, began)
	t.busy++
	return func(succeeded bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.busy--
		i := slices.IndexFunc(f.begun, began.Equal)
		f.begun = slices.Delete(f.begun, i, i+1)
		f.failing = !succeeded
		switch {
		case succeeded:
			f.credit = min(f.credit+1, t.most+proof)
		case time.Since(began) >= slow:
			f.credit = min(f.credit, 0) // a failure earns no way out of the order
		default:
			f.credit = min(f.credit, f.credit/2)
		}
	}
}

// forget drops what is known of lanes whose subscription is gone, by keeping
// only those that something is under way to.
func (t *traffic) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for lane, f := range t.flows {
		if len(f.begun) == 0 {
			delete(t.flows, lane)
		}
	}
}
