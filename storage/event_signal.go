package storage

import (
	"maps"
	"slices"
	"sync"
)

// signal wakes, without waiting, the goroutine that takes what the writer adds after a commit.
type signal struct {
	// C holds a value when there is something to take.
	C chan struct{}

	mu  sync.Mutex // guards all, and what is added
	all bool       // so much came together that anything may have changed
}

func newSignal() signal { return signal{C: make(chan struct{}, 1)} }

// addAll says that anything may have changed: another process has written something.
func (s *signal) addAll() {
	s.mu.Lock()
	s.all = true
	s.mu.Unlock()
	s.wake()
}

func (s *signal) wake() {
	select {
	case s.C <- struct{}{}:
	default: // it is signaled already
	}
}

const maxSignaled = 64

// EventSignal names the organizations with new events or replays; all, beyond maxSignaled.
// It says only that there is something, never what: the receiver reads it.
type EventSignal struct {
	signal
	organizations map[int64]struct{}
}

// EventSignal says which organizations have new events.
func (db *DB) EventSignal() *EventSignal { return db.events }

// Take returns the organizations with something new since the last call; with all, anyone may be.
func (s *EventSignal) Take() (organizations []int64, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	organizations, all = slices.Collect(maps.Keys(s.organizations)), s.all
	clear(s.organizations)
	s.all = false
	return organizations, all
}

func (s *EventSignal) add(organizations ...int64) {
	if len(organizations) == 0 {
		return
	}

	s.mu.Lock()
	for _, organization := range organizations {
		if s.all = s.all || len(s.organizations) >= maxSignaled; s.all {
			break
		}
		s.organizations[organization] = struct{}{}
	}
	s.mu.Unlock()
	s.wake()
}

func (tx *Tx) signalEvents(organization int64) {
	if n := len(tx.happened); n == 0 || tx.happened[n-1] != organization {
		tx.happened = append(tx.happened, organization)
	}
}
