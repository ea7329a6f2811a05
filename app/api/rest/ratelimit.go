package rest

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

// Limit is how often the caller may call.
func (r *Request) Limit() RateLimit {
	if r.User != nil {
		return RateLimit{PerSecond: visitorsPerSecond, Burst: visitorsBurst}
	}
	return RateLimit{PerSecond: r.Plan.RatePerSecond, Burst: r.Plan.Burst}
}

// Holder is who calls: all keys of an organization together, and each person in the console.
func (r *Request) Holder() limit.Holder {
	if r.User != nil {
		return limit.Organization(r.Org.ID, r.User.ID)
	}
	return limit.Organization(r.Org.ID, "")
}

// bucketOf returns the caller's token bucket, adjusted to its plan; nil if the plan has no
// limit.
func (s *Server) bucketOf(r *Request) *rate.Limiter {
	most := r.Limit()
	if most.PerSecond == 0 {
		return nil
	}
	return s.buckets.Of(r.Holder(), most.PerSecond, most.Burst)
}

// takeToken takes a token out of the caller's bucket, or refuses the request.
func (s *Server) takeToken(r *Request) error {
	bucket := s.bucketOf(r)
	if bucket == nil || bucket.Allow() {
		return nil
	}

	lacking := 1 - bucket.Tokens()
	wait := time.Duration(lacking / r.Limit().PerSecond * float64(time.Second))
	return &Error{Code: RateLimitExceeded, Message: "Too many requests. Slow down and retry.", RetryAfter: max(wait, time.Second)}
}

// setRateLimitHeaders shows an authenticated client the state of its bucket.
func (s *Server) setRateLimitHeaders(x *Exchange) {
	r := x.Request
	bucket := s.bucketOf(r)
	if bucket == nil {
		return
	}

	now, most := time.Now(), r.Limit()
	tokens := math.Max(0, bucket.TokensAt(now))
	full := now.Add(time.Duration((float64(most.Burst) - tokens) / most.PerSecond * float64(time.Second)))

	h := x.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(most.Burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(math.Ceil(float64(full.UnixMilli())/1000)), 10))
}

// RateLimit is how many calls a key or a person may make.
type RateLimit struct {
	PerSecond float64 `json:"per_second"`
	Burst     int     `json:"burst"`
}

// madeBy says who made what: the key of what is counted.
type madeBy struct {
	limit.Holder
	what string
}

// Made is how much of something a request makes, and a person may make in a day.
type Made struct {
	What    string
	N, ADay int64
}

// LimitMade makes things, unless a person in the console would then have made more of one than
// it may in any 24 hours. That bounds what one of a team can fill the disk with. What fails
// does not count. Keys are bounded by the plan.
func (s *Server) LimitMade(r *Request, all []Made, make func() (Reply, error)) (rep Reply, err error) {
	if r.User == nil {
		return make()
	}

	isMade := false
	for _, m := range all {
		undo, wait := s.made.Take(madeBy{r.Holder(), m.What}, m.N, m.ADay)
		if undo == nil {
			message := "A person can add " + strconv.FormatInt(m.ADay, 10) + " " + m.What + " a day. Try again later."
			return Reply{}, Fail(RateLimitExceeded, message).RetryIn(max(wait, time.Second))
		}
		defer func() {
			if !isMade {
				undo()
			}
		}()
	}

	rep, err = make()
	isMade = err == nil
	return rep, err
}
