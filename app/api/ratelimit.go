package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiters holds a token bucket for each organization that has called.
type limiters struct {
	mu  sync.Mutex
	all map[int64]*rate.Limiter
}

func newLimiters() *limiters { return &limiters{all: make(map[int64]*rate.Limiter)} }

// bucket returns an organization's token bucket, adjusted to its plan; nil if the plan
// has no limit.
func (l *limiters) bucket(organization int64, plan Plan) *rate.Limiter {
	if plan.RatePerSecond == 0 {
		return nil
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	bucket := l.all[organization]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Limit(plan.RatePerSecond), plan.Burst)
		l.all[organization] = bucket
	}

	if bucket.Limit() != rate.Limit(plan.RatePerSecond) {
		bucket.SetLimit(rate.Limit(plan.RatePerSecond))
	}
	if bucket.Burst() != plan.Burst {
		bucket.SetBurst(plan.Burst)
	}
	return bucket
}

// takeToken takes a token out of the organization's bucket, or refuses the request.
func (s *Server) takeToken(r *request) error {
	bucket := s.limits.bucket(r.org.ID, r.plan)
	if bucket == nil || bucket.Allow() {
		return nil
	}

	lacking := 1 - bucket.Tokens()
	wait := time.Duration(lacking / r.plan.RatePerSecond * float64(time.Second))
	return &Error{Code: RateLimitExceeded, Message: "Too many requests. Slow down and retry.", RetryAfter: max(wait, time.Second)}
}

// setRateLimitHeaders shows an authenticated client the state of its bucket.
func (s *Server) setRateLimitHeaders(x *exchange) {
	r := x.request
	bucket := s.limits.bucket(r.org.ID, r.plan)
	if bucket == nil {
		return
	}

	now := time.Now()
	tokens := math.Max(0, bucket.TokensAt(now))
	full := now.Add(time.Duration((float64(r.plan.Burst) - tokens) / r.plan.RatePerSecond * float64(time.Second)))

	h := x.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(r.plan.Burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(math.Ceil(float64(full.UnixMilli())/1000)), 10))
}
