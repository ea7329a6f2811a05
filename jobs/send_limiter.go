package jobs

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"confab/storage"
)

// The provider's limit for one recipient: a message every six seconds, with a
// burst that is borrowed from the future.
const (
	pairEvery = 6 * time.Second
	pairBurst = 45
	// pairsKept bounds the recipients that are remembered. The memory is cleared
	// when it is full, which at worst lets one burst too many through.
	pairsKept = 100_000
	// reservationKept is how long a reservation is kept after its time has come.
	reservationKept = time.Minute
)

type pair struct {
	account int64
	contact string
}

type reservation struct {
	limiter *rate.Limiter
	message string
}

// sendLimiter keeps messages below the provider's limits: those of a business
// number, and those of a number and one recipient.
type sendLimiter struct {
	perSecond float64
	pairs     bool

	mu       sync.Mutex
	accounts map[int64]*rate.Limiter
	paces    map[int64]*rate.Limiter // by which the messages of broadcasts ask for a slot
	contacts map[pair]*rate.Limiter
	reserved map[reservation]time.Time // of messages that wait in the queue
	sweepAt  int                       // size of reserved at which old ones are deleted
}

func newSendLimiter(perSecond float64, pairs bool) *sendLimiter {
	return &sendLimiter{
		perSecond: perSecond,
		pairs:     pairs,
		accounts:  make(map[int64]*rate.Limiter),
		paces:     make(map[int64]*rate.Limiter),
		contacts:  make(map[pair]*rate.Limiter),
		reserved:  make(map[reservation]time.Time),
		sweepAt:   pairsKept,
	}
}

// reserve reserves a message's place and returns how long it must wait for it. A
// message that must wait longer than maxWait goes back to the queue and asks again
// then: its reservation is kept, so that it waits once and no other overtakes it.
//
// The limiter of the recipient comes first: a message that must wait for its
// recipient takes no place from others of its number meanwhile.
func (s *sendLimiter) reserve(m storage.Message, maxWait time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()

	limiters := s.limitersOf(m)
	wait := s.place(m, limiters, maxWait)
	if wait > maxWait {
		return wait
	}

	// It is sent now: its reservations are used up.
	for _, l := range limiters {
		delete(s.reserved, reservation{l, m.ID})
	}
	return wait
}

// await reserves a message's place before its job is stored, and returns how long it
// must wait for it. The place is kept until the message asks for it by reserve.
func (s *sendLimiter) await(m storage.Message) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place(m, s.limitersOf(m), maxTurnWait)
}

// limitersOf are those that a message has to pass, in this order. The caller holds mu.
func (s *sendLimiter) limitersOf(m storage.Message) (all []*rate.Limiter) {
	if s.pairs {
		all = append(all, s.ofPair(pair{m.AccountID, m.ContactID}))
	}
	if s.perSecond > 0 {
		all = append(all, s.numberLimiter(s.accounts, m.AccountID))
	}
	return all
}

// place reserves a message's place in each limiter, one after another, unless it has one, up to
// one for which it must wait longer than maxWait. It returns how long that is. The
// caller holds mu.
func (s *sendLimiter) place(m storage.Message, limiters []*rate.Limiter, maxWait time.Duration) (wait time.Duration) {
	now := time.Now()
	for _, l := range limiters {
		at, had := s.reserved[reservation{l, m.ID}]
		if !had {
			at = now.Add(l.ReserveN(now, 1).DelayFrom(now))
			s.keep(reservation{l, m.ID}, at, now)
		}
		if wait = max(wait, at.Sub(now)); wait > maxWait {
			return wait
		}
	}
	return wait
}

// keep keeps a reservation. Of many, those are deleted for which no message came back.
func (s *sendLimiter) keep(r reservation, at, now time.Time) {
	if len(s.reserved) >= s.sweepAt {
		for old, at := range s.reserved {
			if at.Before(now.Add(-reservationKept)) {
				delete(s.reserved, old)
			}
		}
		s.sweepAt = max(pairsKept, 2*len(s.reserved))
	}

	s.reserved[r] = at
}

func (s *sendLimiter) numberLimiter(all map[int64]*rate.Limiter, account int64) *rate.Limiter {
	l := all[account]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(s.perSecond), max(1, int(s.perSecond/10))) // a burst is a tenth of a second
		all[account] = l
	}
	return l
}

func (s *sendLimiter) ofPair(p pair) *rate.Limiter {
	l := s.contacts[p]
	if l == nil {
		if len(s.contacts) >= pairsKept {
			clear(s.contacts)
		}

		l = rate.NewLimiter(rate.Every(pairEvery), pairBurst)
		s.contacts[p] = l
	}
	return l
}

// madeAhead knows the messages of broadcasts that were made in this process and have not
// been sent yet, so that no more than a second's worth is.
type madeAhead struct {
	mu sync.Mutex
	of map[int64]map[string]bool // the messages of each broadcast
}

func (a *madeAhead) count(broadcast int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.of[broadcast])
}

func (a *madeAhead) add(m storage.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.of[*m.Broadcast] == nil {
		a.of[*m.Broadcast] = make(map[string]bool)
	}
	a.of[*m.Broadcast][m.ID] = true
}

// remove forgets a message that has run, or that will not: it is named by its id, because it
// may be deleted. Others are not counted.
func (a *madeAhead) remove(message string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for broadcast, messages := range a.of {
		if delete(messages, message); len(messages) == 0 {
			delete(a.of, broadcast)
		}
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

	var pairs []*rate.Limiter
	if s.pairs {
		pairs = append(pairs, s.ofPair(pair{m.AccountID, m.ContactID}))
	}
	if wait := s.place(m, pairs, maxWait); wait > maxWait {
		return wait
	}
	if s.perSecond > 0 {
		now, l := time.Now(), s.numberLimiter(s.accounts, m.AccountID)
		if !l.AllowN(now, 1) {
			return max(time.Millisecond, time.Duration((1-l.TokensAt(now))/s.perSecond*float64(time.Second)))
		}
	}

	for _, l := range pairs { // it is sent now
		delete(s.reserved, reservation{l, m.ID})
	}
	return 0
}
