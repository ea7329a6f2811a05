package limit

import (
	"sync"
	"time"
)

// countedHours is one more than a day has: any 24 hours lie within so many hours of the clock.
const countedHours = 25

// Daily bounds how much each key has in any 24 hours. It counts by the hour, so that what was
// counted is free again after 24 to 25 hours.
type Daily[K comparable] struct {
	mu     sync.Mutex
	began  time.Time // hours are counted from here, whatever is done to the clock
	recent recent[K, *day]
}

// day is what a key has had in each of the last hours.
type day struct {
	hours  [countedHours]int64 // by the number of the hour, modulo their number
	newest int64
}

// NewDaily makes a Daily in which nothing was counted.
func NewDaily[K comparable]() *Daily[K] {
	return &Daily[K]{began: time.Now(), recent: newRecent[K, *day]()}
}

// Take counts n for a key that may have most in a day. Undo takes it back, if it was not used
// in the end. Nil means that it was not counted, and wait how long it will be too much.
func (d *Daily[K]) Take(key K, n, most int64) (undo func(), wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	of := d.recent.of(key, func() *day { return new(day) })
	hour := int64(time.Since(d.began) / time.Hour)
	of.forgetUntil(hour)
	if free := of.freeAt(n, most); free > hour {
		return nil, time.Until(d.began.Add(time.Duration(free) * time.Hour))
	}

	of.hours[hour%countedHours] += n
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if of.newest < hour+countedHours {
			of.hours[hour%countedHours] -= n
		}
	}, 0
}

// forgetUntil forgets what is more than a day before an hour.
func (d *day) forgetUntil(hour int64) {
	for h := max(d.newest+1, hour-countedHours+1); h <= hour; h++ {
		d.hours[h%countedHours] = 0
	}
	d.newest = hour
}

// freeAt is the hour from which on n more is not too much. What is too much for any day has to
// wait for one.
func (d *day) freeAt(n, most int64) int64 {
	for _, counted := range d.hours {
		n += counted
	}

	if n <= most {
		return d.newest
	}

	for h := max(0, d.newest-countedHours+1); h < d.newest; h++ {
		n -= d.hours[h%countedHours]
		if n <= most {
			return h + countedHours
		}
	}
	return d.newest + countedHours
}
