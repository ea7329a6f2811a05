package pages

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// visitsPerSecond and visitBurst are far more than a person makes, also with
	// a whole office behind one address.
	visitsPerSecond = 10
	visitBurst      = 200
	// costOfMiss is how many visits one with a token that does not exist counts
	// for.
	costOfMiss = 2
	// maxVisitors bounds the memory.
	maxVisitors = 10_000
)

// visitors limits how often one address may call.
type visitors struct {
	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newVisitors() *visitors { return &visitors{all: make(map[string]*rate.Limiter)} }

// full takes visits out of an address's bucket, and tells whether it has not so
// many: then nothing more is answered for a while.
func (v *visitors) full(ip string, visits int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := network(ip)
	l := v.all[key]
	if l == nil {
		v.sweep()
		l = rate.NewLimiter(visitsPerSecond, visitBurst)
		v.all[key] = l
	}
	return !l.AllowN(time.Now(), visits)
}

// sweep forgets the addresses that have not called lately, when there are many.
func (v *visitors) sweep() {
	if len(v.all) < maxVisitors {
		return
	}
	for key, l := range v.all {
		if l.Tokens() >= visitBurst {
			delete(v.all, key)
		}
	}
	if len(v.all) >= maxVisitors {
		clear(v.all) // too many at once to tell them apart
	}
}

// network is what counts as one address: of IPv6 the part that one subscriber
// has to itself.
func network(ip string) string {
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
