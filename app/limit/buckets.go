package limit

import (
	"sync"

	"golang.org/x/time/rate"
)

// Buckets are token buckets by key. One that is forgotten leaves its key with a full bucket.
type Buckets[K comparable] struct {
	mu     sync.Mutex
	recent recent[K, *rate.Limiter]
}

// NewBuckets makes Buckets that have no keys yet.
func NewBuckets[K comparable]() *Buckets[K] {
	return &Buckets[K]{recent: newRecent[K, *rate.Limiter]()}
}

// Of is the bucket of a key, with that rate and that size.
func (b *Buckets[K]) Of(key K, perSecond float64, burst int) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()

	limiter := b.recent.of(key, func() *rate.Limiter { return rate.NewLimiter(rate.Limit(perSecond), burst) })
	if limiter.Limit() != rate.Limit(perSecond) {
		limiter.SetLimit(rate.Limit(perSecond))
	}
	if limiter.Burst() != burst {
		limiter.SetBurst(burst)
	}
	return limiter
}
