package limit

import (
	"sync"
	"time"
)

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
