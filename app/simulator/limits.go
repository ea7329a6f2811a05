package simulator

import (
	"time"

	"golang.org/x/time/rate"
)

// The pair limit: one message in six seconds to the same user, with bursts of
// up to 45.
const (
	pairEvery = 6 * time.Second
	pairBurst = 45
	// maxPairs limits the memory of the pair limit. When it is reached all pairs
	// start again with a full bucket.
	maxPairs = 100_000
)

// limits are the provider's token buckets.
type limits struct {
	numbers map[string]*rate.Limiter
	pairs   map[[2]string]*rate.Limiter
}

func newLimits() limits {
	return limits{numbers: map[string]*rate.Limiter{}, pairs: map[[2]string]*rate.Limiter{}}
}

// allow takes a token for one message, or says which limit was hit.
func (l *limits) allow(now time.Time, settings *Settings, numberID, party string) error {
	if settings.PairLimit {
		pair := [2]string{numberID, party}
		bucket := l.pairs[pair]
		if bucket == nil {
			if len(l.pairs) >= maxPairs {
				clear(l.pairs)
			}
			bucket = rate.NewLimiter(rate.Every(pairEvery), pairBurst)
			l.pairs[pair] = bucket
		}

		if !bucket.AllowN(now, 1) {
			return refuse(codePairLimit)
		}
	}

	// The messages of one second may come all at once.
	if settings.MessagesPerSecond > 0 {
		bucket := l.numbers[numberID]
		if bucket == nil {
			bucket = rate.NewLimiter(rate.Limit(settings.MessagesPerSecond), max(1, int(settings.MessagesPerSecond)))
			l.numbers[numberID] = bucket
		}

		if !bucket.AllowN(now, 1) {
			return refuse(codeThroughput)
		}
	}

	return nil
}
