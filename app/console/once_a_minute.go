package console

import (
	"sync"
	"time"
)

// maxPairs bounds the memory of onceAMinute.
const maxPairs = 10_000

// onceAMinute finds which events are the first of their key in a minute.
type onceAMinute struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func newOnceAMinute() *onceAMinute { return &onceAMinute{last: make(map[string]time.Time)} }

// first reports whether the key had no event within the last minute, and counts this one.
func (o *onceAMinute) first(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	if at, ok := o.last[key]; ok && time.Since(at) < time.Minute {
		return false
	}

	if len(o.last) >= maxPairs {
		for key, at := range o.last {
			if time.Since(at) >= time.Minute {
				delete(o.last, key)
			}
		}
	}
	if len(o.last) >= maxPairs {
		return false // more than anybody would read
	}
	o.last[key] = time.Now()
	return true
}
