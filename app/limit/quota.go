package limit

import (
	"sync"
	"time"
)

// Quota is how often something may happen in a minute: in all, and for each key fewer, so
// that one does not hide the others. Its memory is bounded, because a key is only
// remembered for what was allowed.
type Quota struct {
	max, share int

	mu    sync.Mutex
	began time.Time // the present minute
	used  int
	of    map[string]int
}

// NewQuota makes a quota of max in a minute, and share of one key.
func NewQuota(max, share int) *Quota { return &Quota{max: max, share: share, of: make(map[string]int)} }

// Allow reports whether it may happen once more, and counts it if so.
func (q *Quota) Allow(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()

	if time.Since(q.began) >= time.Minute {
		q.began, q.used = time.Now(), 0
		clear(q.of)
	}
	if q.used >= q.max || q.of[key] >= q.share {
		return false
	}

	q.used++
	q.of[key]++
	return true
}
