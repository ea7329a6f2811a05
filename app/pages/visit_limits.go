package pages

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// visitsPerSecond and visitBurst are far more than people make, even if a whole
	// office shares one address.
	visitsPerSecond = 10
	visitBurst      = 200
	// costOfMiss is how many visits a request with an unknown token counts for.
	costOfMiss = 2
	// maxAddresses bounds the memory.
	maxAddresses = 10_000
)

// visitLimits limits how often one address may call, with a token bucket for each.
type visitLimits struct {
	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newVisitLimits() *visitLimits { return &visitLimits{all: make(map[string]*rate.Limiter)} }

// exceeded takes visits out of the bucket of an address, and reports whether it had too
// few.
func (v *visitLimits) exceeded(ip string, visits int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	key := rateKey(ip)
	l := v.all[key]
	if l == nil {
		v.sweep()
		l = rate.NewLimiter(visitsPerSecond, visitBurst)
		v.all[key] = l
	}

	return !l.AllowN(time.Now(), visits)
}

// sweep removes the addresses that have not called lately, if there are too many.
func (v *visitLimits) sweep() {
	if len(v.all) < maxAddresses {
		return
	}

	for key, l := range v.all {
		if l.Tokens() >= visitBurst {
			delete(v.all, key)
		}
	}

	if len(v.all) >= maxAddresses {
		clear(v.all) // all of them call at once: better no limit than no memory
	}
}

// rateKey returns what counts as one address: for IPv6 the /64 network, which one
// subscriber has to itself.
func rateKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}

	prefix, err := addr.Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}
