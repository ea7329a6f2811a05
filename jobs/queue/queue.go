// Package queue runs durable jobs: it claims what is due, hands it to handlers
// and settles the outcome in the same transaction as the handler's own results.
package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"confab/storage"
)

// Commit writes a finished job's results. The runner calls it in the same
// transaction that removes the job, so our own effects happen exactly once.
type Commit func(*storage.Tx) error

// Handler does a job's slow work outside of any transaction and returns what to
// write, or nil. An error means "try again": after the delay that RetryAfter
// gives it, else after the kind's own backoff. What is returned beside
// RetryAfter is written when the job is put back.
type Handler func(context.Context, storage.Job) (Commit, error)

// Kind is a sort of job and how it is run. The order in which kinds are given
// to New is their priority.
type Kind struct {
	Name    string
	Handle  Handler
	Workers int           // at most so many at once; 0 for all workers
	Own     bool          // Workers are its own, beside those that kinds share
	Lease   time.Duration // the time limit of one run; 0 for a minute
	// Attempts is how many failed runs it takes to give a job up; 0 for 20.
	Attempts int
	// Lane is how many jobs of the named lane may run at once; 0 closes the
	// lane, as storage does by itself for subscriptions that are not active. It
	// is called often and must be quick. Nil means no limit.
	Lane func(lane string) int
	// Ahead is how many held jobs are leased before their turn, for each that a
	// lane may run at once: a lane that works off a backlog need not wait for a
	// claim after each job. It is not for kinds to which a lease means that the
	// job has begun.
	Ahead int
	// Opened is told of a lane that had jobs waiting because it was closed, and
	// is so no more, before the first of them goes. It must be quick.
	Opened func(lane string)
	// Prepare reads at once what many jobs that were claimed together need, and
	// puts it into their Memory. What it leaves out a run reads by itself.
	Prepare func(context.Context, []storage.Job)
	// GiveUp says how a job that is out of attempts ends. Nil keeps it as failed
	// for a person to look at.
	GiveUp func(storage.Job, error) Commit
	// Every makes the kind periodic: the runner enqueues it itself.
	Every time.Duration
}

const (
	defaultLease    = time.Minute
	defaultAttempts = 20
)

// retryError carries a delay chosen by the handler.
type retryError struct {
	delay time.Duration
	cause error
}

func (e *retryError) Error() string { return e.cause.Error() }
func (e *retryError) Unwrap() error { return e.cause }

// RetryAfter makes the runner try again after the delay, however often that
// happens: a handler that chooses delays also decides when to stop.
func RetryAfter(delay time.Duration, cause error) error {
	return &retryError{delay: delay, cause: cause}
}

// postponed is no failure: the job's time has not come.
type postponed struct{ until storage.Time }

func (e *postponed) Error() string { return fmt.Sprintf("postponed until %s", e.until) }

// Postpone makes the runner put the job back until the delay has passed, without
// counting the run: a rate limit or a wait is not the job's fault. It also says
// that the run has had no effect outside, so that a job which is stopped before
// its call goes on at once when there is a runner again.
func Postpone(delay time.Duration) error { return PostponeUntil(storage.Now().Add(delay)) }

// PostponeUntil is Postpone to a time. Jobs that were given times in some order
// go on in that order, however long it took to put them back.
func PostponeUntil(at storage.Time) error { return &postponed{until: at} }

// backoff is the delay after a failed attempt whose handler chose none: one
// second, doubled each time, at most an hour, ±20 % so that jobs that failed
// together do not return together.
func backoff(attempt int) time.Duration {
	d := time.Second << min(attempt-1, 12)
	return time.Duration(float64(min(d, time.Hour)) * (0.8 + 0.4*rand.Float64()))
}

// verdict says what becomes of a job whose run failed.
func (k *Kind) verdict(j storage.Job, err error) (retry bool, delay time.Duration) {
	if chosen, ok := errors.AsType[*retryError](err); ok {
		return true, chosen.delay
	}
	if j.Attempt() >= k.Attempts {
		return false, 0
	}
	return true, backoff(j.Attempt())
}

// Finish tells an observer about one run.
type Finish struct {
	Kind    string
	Outcome string // "done", "retry", "failed", "postponed", "released" or "lost"
	Took    time.Duration
}
