package api

import (
	"math"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"confab/app/limit"
)

// Limits of each person in the console.
const (
	visitorsPerSecond = 50
	visitorsBurst     = 200
)

// limit is how often the caller may call.
func (r *request) limit() rateLimitView {
	if r.user != nil {
		return rateLimitView{PerSecond: visitorsPerSecond, Burst: visitorsBurst}
	}
	return rateLimitView{PerSecond: r.plan.RatePerSecond, Burst: r.plan.Burst}
}

// holder is who calls: all keys of an organization together, and each person in the console.
func (r *request) holder() limit.Holder {
	if r.user != nil {
		return limit.Organization(r.org.ID, r.user.ID)
	}
	return limit.Organization(r.org.ID, "")
}

// bucketOf returns the caller's token bucket, adjusted to its plan; nil if the plan has no
// limit.
func (s *Server) bucketOf(r *request) *rate.Limiter {
	most := r.limit()
	if most.PerSecond == 0 {
		return nil
	}
	return s.buckets.Of(r.holder(), most.PerSecond, most.Burst)
}

// takeToken takes a token out of the caller's bucket, or refuses the request.
func (s *Server) takeToken(r *request) error {
	bucket := s.bucketOf(r)
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
	bucket := s.bucketOf(r)
	if bucket == nil {
		return
	}

	now, most := time.Now(), r.limit()
	tokens := math.Max(0, bucket.TokensAt(now))
	full := now.Add(time.Duration((float64(most.Burst) - tokens) / most.PerSecond * float64(time.Second)))

	h := x.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(most.Burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(math.Ceil(float64(full.UnixMilli())/1000)), 10))
}
