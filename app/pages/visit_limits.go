package pages

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// visitsPerSecond and visitBurst are far more than people make, even if a whole
	// office shares one network.
	visitsPerSecond = 10
	visitBurst      = 200
	// costOfMiss is how many visits a request with an unknown token counts for.
	costOfMiss = 2
	// maxNetworks bounds the memory.
	maxNetworks = 10_000
)

// visitLimits limits how often one network may call, with a token bucket for each.
type visitLimits struct {
	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newVisitLimits() *visitLimits { return &visitLimits{all: make(map[string]*rate.Limiter)} }

// exceeded takes visits out of the bucket of a network, and reports whether it had too
// few.
func (v *visitLimits) exceeded(network string, visits int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	l := v.all[network]
	if l == nil {
		v.sweep()
		l = rate.NewLimiter(visitsPerSecond, visitBurst)
		v.all[network] = l
	}

	return !l.AllowN(time.Now(), visits)
}

// sweep removes the networks that have not called lately, if there are too many.
func (v *visitLimits) sweep() {
	if len(v.all) < maxNetworks {
		return
	}

	for network, l := range v.all {
		if l.Tokens() >= visitBurst {
			delete(v.all, network)
		}
	}

	if len(v.all) >= maxNetworks {
		clear(v.all) // all of them call at once: better no limit than no memory
	}
}
