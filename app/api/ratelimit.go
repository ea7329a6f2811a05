package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of each person in the console.
const (
	visitorsPerSecond = 50
	visitorsBurst     = 200
)

// limiters holds a token bucket for each organization that has called with a key, and
// for each person in the console.
type limiters struct {
	mu  sync.Mutex
	all map[bucketKey]*rate.Limiter
}

// bucketKey is whose bucket it is.
type bucketKey struct {
	organization int64
	user         string // "" for all keys of the organization
}

func newLimiters() *limiters { return &limiters{all: make(map[bucketKey]*rate.Limiter)} }

// limit is how often the caller may call.
func (r *request) limit() rateLimitView {
	if r.user != nil {
		return rateLimitView{PerSecond: visitorsPerSecond, Burst: visitorsBurst}
	}
	return rateLimitView{PerSecond: r.plan.RatePerSecond, Burst: r.plan.Burst}
}

// bucketOf returns the caller's token bucket, adjusted to its plan; nil if the plan has no
// limit.
func (l *limiters) bucketOf(r *request) *rate.Limiter {
	limit := r.limit()
	if limit.PerSecond == 0 {
		return nil
	}

	key := bucketKey{organization: r.org.ID}
	if r.user != nil {
		key.user = r.user.ID
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	bucket := l.all[key]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Limit(limit.PerSecond), limit.Burst)
		l.all[key] = bucket
	}

	if bucket.Limit() != rate.Limit(limit.PerSecond) {
		bucket.SetLimit(rate.Limit(limit.PerSecond))
	}
	if bucket.Burst() != limit.Burst {
		bucket.SetBurst(limit.Burst)
	}
	return bucket
}

// takeToken takes a token out of the caller's bucket, or refuses the request.
func (s *Server) takeToken(r *request) error {
	bucket := s.limits.bucketOf(r)
	if bucket == nil || bucket.Allow() {
		return nil
	}

	lacking := 1 - bucket.Tokens()
	wait := time.Duration(lacking / r.limit().PerSecond * float64(time.Second))
	return &Error{Code: RateLimitExceeded, Message: "Too many requests. Slow down and retry.", RetryAfter: max(wait, time.Second)}
}

// setRateLimitHeaders shows an authenticated client the state of its bucket.
func (s *Server) setRateLimitHeaders(x *exchange) {
	r := x.request
	bucket := s.limits.bucketOf(r)
	if bucket == nil {
		return
	}

	now, limit := time.Now(), r.limit()
	tokens := math.Max(0, bucket.TokensAt(now))
	full := now.Add(time.Duration((float64(limit.Burst) - tokens) / limit.PerSecond * float64(time.Second)))

	h := x.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit.Burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(math.Ceil(float64(full.UnixMilli())/1000)), 10))
}
