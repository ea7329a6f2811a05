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
	// appThroughput is the most messages a second of a number that is also used with the phone app.
	appThroughput = 20
	// maxBuckets limits the memory of the limits. When it is reached all start
	// again with a full bucket.
	maxBuckets = 100_000
)

// limits are the provider's token buckets, by number and person. That of a number as a
// whole is without a person.
type limits map[[2]string]*rate.Limiter

// take takes a token from a bucket, or reports that it is empty.
func (l limits) take(now time.Time, numberID, party string, limit rate.Limit, burst int) bool {
	key := [2]string{numberID, party}
	if l[key] == nil || l[key].Burst() != burst { // a number may have become one of the phone app
		if len(l) >= maxBuckets {
			clear(l)
		}
		l[key] = rate.NewLimiter(limit, burst)
	}
	return l[key].AllowN(now, 1)
}

// allow takes a token for one message, or says which limit was hit.
func (l limits) allow(now time.Time, settings *Settings, n *number, party string) error {
	if settings.PairLimit && !l.take(now, n.ID, party, rate.Every(pairEvery), pairBurst) {
		return refuse(codePairLimit)
	}

	// The messages of one second may come all at once.
	perSecond := settings.MessagesPerSecond
	if n.OnBizApp {
		perSecond = min(perSecond, appThroughput)
	}
	if perSecond > 0 && !l.take(now, n.ID, "", rate.Limit(perSecond), max(1, int(perSecond))) {
		return refuse(codeThroughput)
	}
	return nil
}
