package jobs

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"confab/storage"
)

// madeAhead knows the messages of broadcasts that were made in this process and have not
// been sent yet, so that no more than a second's worth is.
type madeAhead struct {
	mu     sync.Mutex
	of     map[string]int64 // the broadcast of each message
	counts map[int64]int    // of messages, by broadcast
}

func newMadeAhead() *madeAhead {
	return &madeAhead{of: make(map[string]int64), counts: make(map[int64]int)}
}

func (a *madeAhead) count(broadcast int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[broadcast]
}

func (a *madeAhead) add(m storage.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.of[m.ID] = *m.Broadcast
	a.counts[*m.Broadcast]++
}

// remove forgets a message that has run, or that will not: it is named by its id, because it
// may be deleted. Others are not counted.
func (a *madeAhead) remove(message string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	broadcast, ok := a.of[message]
	if !ok {
		return
	}
	delete(a.of, message)
	if a.counts[broadcast]--; a.counts[broadcast] == 0 {
		delete(a.counts, broadcast)
	}
}

// pace is how long a message of a broadcast waits until it asks for a slot of its number, so
// that those that are made together do not ask together.
func (s *sendLimiter) pace(m storage.Message) time.Duration {
	if s.perSecond <= 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	now := time.Now()
	return s.numberLimiter(s.paces, m.AccountID).ReserveN(now, 1).DelayFrom(now)
}

// tryBroadcastSlot takes a slot of a number for a message of a broadcast, which is there only if no
// direct send waits: those have reserved theirs ahead. Otherwise it returns how long to
// wait before asking again. The slot of the recipient is reserved as for other messages.
func (s *sendLimiter) tryBroadcastSlot(m storage.Message, maxWait time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.pairs {
		limiter := s.ofPair(pair{m.AccountID, m.ContactID})
		if wait := s.place(m, []*rate.Limiter{limiter}, maxWait); wait > maxWait {
			return wait
		}
		defer delete(s.reserved, reservation{limiter, m.ID})
	}

	if s.perSecond <= 0 {
		return 0
	}
	now, l := time.Now(), s.numberLimiter(s.accounts, m.AccountID)
	if l.AllowN(now, 1) {
		return 0
	}
	return max(time.Millisecond, time.Duration((1-l.TokensAt(now))/s.perSecond*float64(time.Second)))
}
