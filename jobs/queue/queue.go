package queue

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"confab/storage"
)

// Commit writes a finished job's results. The runner calls it in the same
// transaction that removes the job, so our own effects happen exactly once.
type Commit func(*storage.Tx) error

// Handler does a job's slow work outside of any transaction and returns what to
// write, or nil. An error means "try again": after the delay that RetryAfter
// gives it, else after the kind's own backoff. A commit returned beside
// RetryAfter is written when the job is put back.
type Handler func(context.Context, storage.Job) (Commit, error)

// Kind is a sort of job and how it is run. The first that New is given is the most urgent.
type Kind struct {
	Name    string
	Handle  Handler
	Workers int // how many run at once at most; 0 for all that it can get
	// Reserved is how many workers are its own, beside those that kinds share: so
	// many of its jobs can run no matter what the other kinds do.
	Reserved int
	Lease    time.Duration // the time limit of one run; 0 for a minute
	// MaxRun is how long a run may take that calls Extend; 0 for no longer than Lease.
	MaxRun time.Duration
	// Attempts is how many failed runs it takes to give a job up; 0 for 20.
	Attempts int
	// MaxDelay is how long a job waits for its next run at most: longer delays are
	// cut to it. 0 is for kinds that leave the delays to the runner, or choose none
	// of more than an hour.
	MaxDelay time.Duration
	// LooksAtClock says that a job which runs before its time only waits again, until
	// then. A start runs such jobs once if they may wait because of a wrong clock.
	LooksAtClock bool
	// LaneLimit is how many jobs of the named lane may run at once; 0 closes the
	// lane, as storage does by itself for subscriptions that are not active. It
	// is called often and must be quick. Nil means no limit.
	LaneLimit func(lane string) int
	// Turn is how long a job that is enqueued with its Memory must wait to be run, so
	// that it is not run before, only to be put back. It is called on the database's
	// writer and must be quick. Nil means that none waits.
	Turn func(storage.Job) time.Duration
	// LeaseAhead is how many held jobs are leased ahead, for each that a
	// lane may run at once: a lane with a backlog need not wait for a claim after
	// each job. It must be 0 for kinds to which a lease means that the job's
	// outside call may have begun.
	LeaseAhead int
	// OnLaneOpened is called when a closed lane with waiting jobs is open again, before
	// the first of them starts. It must be quick.
	OnLaneOpened func(lane string)
	// Preload reads in one go what jobs that were claimed together need, and puts
	// it into their Memory. A job whose Memory stays nil reads for itself.
	Preload func(context.Context, []storage.Job)
	// GiveUp ends a job that is out of attempts. Nil keeps it for a person to look at.
	GiveUp func(storage.Job, error) Commit
	// Every makes the kind periodic: the runner enqueues it itself.
	Every time.Duration
}

const (
	defaultLease    = time.Minute
	defaultAttempts = 20

	// maxBackoff is the longest delay that the runner itself chooses, before it is
	// spread by backoffSpread to both sides.
	maxBackoff    = time.Hour
	backoffSpread = 0.2
	// defaultMaxDelay is a little more than the longest backoff.
	defaultMaxDelay = maxBackoff * 5 / 4
)

// withDefaults fills in what was left out. shared is how many workers kinds share.
func (k Kind) withDefaults(shared int) Kind {
	if most := k.Reserved + shared; k.Workers <= 0 || k.Workers > most {
		k.Workers = most
	}
	k.Lease = cmp.Or(k.Lease, defaultLease)
	k.MaxRun = max(k.MaxRun, k.Lease)
	k.Attempts = cmp.Or(k.Attempts, defaultAttempts)
	k.MaxDelay = cmp.Or(k.MaxDelay, defaultMaxDelay)
	return k
}

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

// postponed is the error of a run that must wait, which is no failure.
type postponed struct {
	until storage.Time
	ends  time.Time // of a delay, by the monotonic clock
}

func (e *postponed) Error() string { return "postponed" }

// end is when the wait is over, at a time by the clock of the database.
func (e *postponed) end(now storage.Time) storage.Time {
	if e.until == 0 {
		return now.Add(time.Until(e.ends))
	}
	return e.until
}

// Postpone makes the runner put the job back until the delay has passed, without
// counting the run as a failure. It also says that the run has had no outside
// effect: a job that is stopped before its call returns Postpone(0), and runs
// again as soon as there is a runner.
func Postpone(delay time.Duration) error { return &postponed{ends: time.Now().Add(delay)} }

// PostponeUntil is Postpone with a time instead of a delay. Jobs run again in the
// order of their times, however long it took to put each of them back.
func PostponeUntil(at storage.Time) error { return &postponed{until: at} }

// Jitter makes a delay shorter or longer at random, by up to a part of it.
func Jitter(d time.Duration, part float64) time.Duration {
	return time.Duration(float64(d) * (1 - part + 2*part*rand.Float64()))
}

// shouldRetry reports whether a job whose run failed is tried again, and after how
// long. If its handler chose no delay, that is one second, doubled each time, at most an
// hour, ±20 % so that jobs that failed together do not return together.
func (k *Kind) shouldRetry(j storage.Job, err error) (retry bool, delay time.Duration) {
	if chosen, ok := errors.AsType[*retryError](err); ok {
		return true, chosen.delay
	}

	if j.Attempt() >= k.Attempts {
		return false, 0
	}
	return true, Jitter(min(time.Second<<min(j.Attempt()-1, 12), maxBackoff), backoffSpread)
}
