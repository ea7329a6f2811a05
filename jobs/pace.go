package jobs

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The provider's limit for one person: a message each six seconds, with a burst
// that is borrowed from the future.
const (
	pairEvery = 6 * time.Second
	pairBurst = 45
	// pairsKept bounds the memory of people written to; it is cleared when full,
	// which at worst lets one burst too many through.
	pairsKept = 100_000
)

// pair is a business number and a person.
type pair struct {
	account int64
	contact string
}

// pace spreads messages as the provider wants them.
type pace struct {
	perSecond float64
	pairs     bool

	mu       sync.Mutex
	accounts map[int64]*rate.Limiter
	contacts map[pair]*rate.Limiter
}

func newPace(perSecond float64, pairs bool) *pace {
	return &pace{perSecond: perSecond, pairs: pairs, accounts: make(map[int64]*rate.Limiter), contacts: make(map[pair]*rate.Limiter)}
}

// take takes a turn for a message and returns how long it must wait for it. A
// message that goes back to the queue must ask again, so a turn that is further
// away than patience is not taken.
func (p *pace) take(account int64, contact string, patience time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var turns []*rate.Limiter
	if p.perSecond > 0 {
		turns = append(turns, p.number(account))
	}
	if p.pairs {
		turns = append(turns, p.person(pair{account, contact}))
	}
	var wait time.Duration
	taken := make([]*rate.Reservation, len(turns))
	for i, limiter := range turns {
		taken[i] = limiter.Reserve()
		wait = max(wait, taken[i].Delay())
	}
	if wait > patience {
		for _, turn := range taken {
			turn.Cancel()
		}
	}
	return wait
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
