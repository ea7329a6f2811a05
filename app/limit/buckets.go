package limit

import (
	"container/list"
	"sync"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the memory of Buckets.
const maxBuckets = 10_000

// Buckets are token buckets by key. Of too many keys the one that was longest not used is
// forgotten, which leaves it with a full bucket.
type Buckets[K comparable] struct {
	mu    sync.Mutex
	order list.List // of buckets, the last used first
	found map[K]*list.Element
}

type bucket[K comparable] struct {
	key K
	*rate.Limiter
}

// NewBuckets makes Buckets that have no keys yet.
func NewBuckets[K comparable]() *Buckets[K] { return &Buckets[K]{found: make(map[K]*list.Element)} }

// Of is the bucket of a key, with that rate and that size.
func (b *Buckets[K]) Of(key K, perSecond float64, burst int) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()

	at := b.found[key]
	if at == nil {
		if len(b.found) >= maxBuckets {
			delete(b.found, b.order.Remove(b.order.Back()).(bucket[K]).key)
		}
		at = b.order.PushFront(bucket[K]{key, rate.NewLimiter(rate.Limit(perSecond), burst)})
		b.found[key] = at
	}
	b.order.MoveToFront(at)

	limiter := at.Value.(bucket[K]).Limiter
	if limiter.Limit() != rate.Limit(perSecond) {
		limiter.SetLimit(rate.Limit(perSecond))
	}
	if limiter.Burst() != burst {
		limiter.SetBurst(burst)
	}
	return limiter
}
