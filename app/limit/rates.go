package limit

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Buckets are token buckets by key. One that is forgotten leaves its key with a full bucket.
// The zero value has no keys yet.
type Buckets[K comparable] struct{ recent recent[K, *rate.Limiter] }

// Of is the bucket of a key, with that rate and that size.
func (b *Buckets[K]) Of(key K, perSecond float64, burst int) *rate.Limiter {
	limiter := b.recent.of(key, func() *rate.Limiter { return rate.NewLimiter(rate.Limit(perSecond), burst) })
	if limiter.Limit() != rate.Limit(perSecond) {
		limiter.SetLimit(rate.Limit(perSecond))
	}
	if limiter.Burst() != burst {
		limiter.SetBurst(burst)
	}
	return limiter
}

// Once remembers what has happened that may happen once. The zero value remembers nothing.
type Once[K comparable] struct{ recent recent[K, bool] }

// First reports whether something happens for the first time.
func (o *Once[K]) First(key K) (first bool) {
	o.recent.of(key, func() bool { first = true; return true })
	return first
}

const maxRecent = 10_000

// recent are values by key. Of too many keys the one that was longest not used is forgotten.
type recent[K comparable, V any] struct {
	mu    sync.Mutex
	order list.List // of entries, the last used first
	found map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// of is the value of a key, which fresh makes if there is none.
func (r *recent[K, V]) of(key K, fresh func() V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = make(map[K]*list.Element)
	}
	at := r.found[key]
	if at == nil {
		if len(r.found) >= maxRecent {
			delete(r.found, r.order.Remove(r.order.Back()).(entry[K, V]).key)
		}
		at = r.order.PushFront(entry[K, V]{key, fresh()})
		r.found[key] = at
	}
	r.order.MoveToFront(at)
	return at.Value.(entry[K, V]).value
}

// countedHours is one more than a day has: any 24 hours lie within so many hours of the clock.
const countedHours = 25

// Daily bounds how much each key has in any 24 hours. It counts by the hour, so that what was
// counted is free again after 24 to 25 hours.
type Daily[K comparable] struct {
	mu     sync.Mutex
	began  time.Time // hours are counted from here, whatever is done to the clock
	recent recent[K, *day]
}

// day is what a key has had in the last hours, the earliest first.
type day []*counted

type counted struct{ hour, n int64 }

// NewDaily makes a Daily in which nothing was counted.
func NewDaily[K comparable]() *Daily[K] { return &Daily[K]{began: time.Now()} }

// Take counts n for a key that may have most in a day. Undo takes it back, if it was not used
// in the end. Nil means that it was not counted, and wait how long it will be too much.
func (d *Daily[K]) Take(key K, n, most int64) (undo func(), wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	of := d.recent.of(key, func() *day { return new(day) })
	hour := int64(time.Since(d.began) / time.Hour)
	*of = slices.DeleteFunc(*of, func(c *counted) bool { return c.hour <= hour-countedHours })
	if free := of.freeAt(hour, n, most); free > hour {
		return nil, time.Until(d.began.Add(time.Duration(free) * time.Hour))
	}

	if len(*of) == 0 || (*of)[len(*of)-1].hour < hour {
		*of = append(*of, &counted{hour: hour})
	}
	now := (*of)[len(*of)-1]
	now.n += n
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		now.n -= n
	}, 0
}

// freeAt is the hour from which on n more is not too much. What is too much for any day has to
// wait for one.
func (d day) freeAt(hour, n, most int64) int64 {
	for _, c := range d {
		n += c.n
	}
	for free, i := hour, 0; ; i++ {
		switch {
		case n <= most:
			return free
		case i == len(d):
			return hour + countedHours
		}
		n -= d[i].n
		free = d[i].hour + countedHours
	}
}

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

const (
	// freeTries is how many failures cost no waiting; each further one doubles it.
	freeTries   = 5
	longestWait = 300 * time.Second
	// remembered is how long a failure counts after the last one.
	remembered = time.Hour
	// maxEntries bounds the memory.
	maxEntries = 20_000
)

// Throttle makes those wait who fail again and again: after the sixth failure a second,
// then two, four and so on, up to five minutes. No one is locked out for good. It counts
// in memory, by keys such as an address or an account.
type Throttle struct {
	mu  sync.Mutex
	all map[string]failures
}

type failures struct {
	count int
	last  time.Time
}

// NewThrottle makes a Throttle.
func NewThrottle() *Throttle { return &Throttle{all: make(map[string]failures)} }

// Wait is how long the key has to wait until its next try; 0 if it need not.
func (t *Throttle) Wait(key string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()

	f := t.all[key]
	return max(0, time.Until(f.last.Add(f.wait())))
}

// wait is how long after the last failure the next try may come.
func (f failures) wait() time.Duration {
	if f.count <= freeTries {
		return 0
	}
	doubled := min(f.count-freeTries-1, 16) // far above the longest
	return min(time.Second<<doubled, longestWait)
}

// HasFailed reports whether the key has a failure that still counts.
func (t *Throttle) HasFailed(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	f := t.all[key]
	return f.count > 0 && time.Since(f.last) <= remembered
}

// Fail counts a failure of the key.
func (t *Throttle) Fail(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()

	f := t.all[key]
	if time.Since(f.last) > remembered {
		f.count = 0
	}
	if f.count == 0 {
		t.makeRoom()
	}
	t.all[key] = failures{f.count + 1, time.Now()}
}

// Clear forgets the failures of the key.
func (t *Throttle) Clear(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, key)
}

// makeRoom removes a quarter of all when there are too many, so that it is seldom needed:
// what counts no more, then what does not make anybody wait yet, and then any.
func (t *Throttle) makeRoom() {
	if len(t.all) < maxEntries {
		return
	}

	for _, dispensable := range []func(failures) bool{
		func(f failures) bool { return time.Since(f.last) > remembered },
		func(f failures) bool { return f.count <= freeTries },
		func(failures) bool { return true },
	} {
		for key, f := range t.all {
			if len(t.all) <= maxEntries*3/4 {
				return
			}
			if dispensable(f) {
				delete(t.all, key)
			}
		}
	}
}
