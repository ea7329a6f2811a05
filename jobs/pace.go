package jobs

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"confab/storage"
)

// The provider's limit for one person: a message each six seconds, with a burst
// that is borrowed from the future.
const (
	pairEvery = 6 * time.Second
	pairBurst = 45
	// pairsKept bounds the memory of people written to; it is cleared when full,
	// which at worst lets one burst too many through.
	pairsKept = 100_000
	// turnKept is how long a turn that has come waits for its message.
	turnKept = time.Minute
)

// pair is a business number and a person.
type pair struct {
	account int64
	contact string
}

// turn is a message's place in a limiter.
type turn struct {
	limiter *rate.Limiter
	message string
}

// pace spreads messages as the provider wants them.
type pace struct {
	perSecond float64
	pairs     bool

	mu       sync.Mutex
	accounts map[int64]*rate.Limiter
	contacts map[pair]*rate.Limiter
	taken    map[turn]time.Time // by messages that wait in the queue
	sweepAt  int                // when so many were taken
}

func newPace(perSecond float64, pairs bool) *pace {
	return &pace{
		perSecond: perSecond, pairs: pairs,
		accounts: make(map[int64]*rate.Limiter), contacts: make(map[pair]*rate.Limiter), taken: make(map[turn]time.Time), sweepAt: pairsKept,
	}
}

// take takes a turn for a message and returns how long it must wait for it. A
// message whose turn is further away than patience goes back to the queue and
// asks again when it has come: its turn is kept, so that each waits once and
// nobody overtakes. The person's comes first, so that whoever waits for a person
// takes nothing from others.
func (p *pace) take(m storage.Message, patience time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var limiters []*rate.Limiter
	if p.pairs {
		limiters = append(limiters, p.person(pair{m.AccountID, m.ContactID}))
	}
	if p.perSecond > 0 {
		limiters = append(limiters, p.number(m.AccountID))
	}
	now := time.Now()
	var wait time.Duration
	for _, l := range limiters {
		at, had := p.taken[turn{l, m.ID}]
		if !had {
			at = now.Add(l.ReserveN(now, 1).DelayFrom(now))
			p.keep(turn{l, m.ID}, at, now)
		}
		if wait = max(wait, at.Sub(now)); wait > patience {
			return wait
		}
	}
	for _, l := range limiters {
		delete(p.taken, turn{l, m.ID})
	}
	return wait
}

// keep remembers a turn. Those that nobody came back for are forgotten when
// there are many.
func (p *pace) keep(t turn, at, now time.Time) {
	if len(p.taken) >= p.sweepAt {
		for t, at := range p.taken {
			if at.Before(now.Add(-turnKept)) {
				delete(p.taken, t)
			}
		}
		p.sweepAt = max(pairsKept, 2*len(p.taken))
	}
	p.taken[t] = at
}

func (p *pace) number(account int64) *rate.Limiter {
	l := p.accounts[account]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(p.perSecond), max(1, int(p.perSecond/10))) // a tenth of a second at once
		p.accounts[account] = l
	}
	return l
}

func (p *pace) person(who pair) *rate.Limiter {
	l := p.contacts[who]
	if l == nil {
		if len(p.contacts) >= pairsKept {
			clear(p.contacts)
		}
		l = rate.NewLimiter(rate.Every(pairEvery), pairBurst)
		p.contacts[who] = l
	}
	return l
}
