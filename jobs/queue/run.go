package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"confab/storage"
)

// Start implements storage.Dispatcher: the job was inserted as leased.
func (r *Runner) Start(j storage.Job) {
	r.start(r.kinds[j.Kind], j)
}

func (r *Runner) startAll(k *kindState, jobs []storage.Job) {
	for _, j := range jobs {
		r.start(k, j)
	}
}

func (r *Runner) start(k *kindState, j storage.Job) {
	current := r.newRun(k, j)
	r.begun.Add(1)

	go func() {
		defer r.group.Done()
		defer r.forget(current)

		commit, err := r.handle(current)
		outcome := "lease_lost"

		// The job may have been taken from this run. Its success is a fact all the
		// same; anything else was written when the job was taken.
		if mine := r.finish(current); mine || err == nil {
			outcome = r.settle(current, commit, err)
		}
		if r.OnRun != nil {
			r.OnRun(k.Name, outcome, time.Since(current.began))
		}
	}()
}

// handle calls the handler. A panic fails the job, not the process.
func (r *Runner) handle(current *run) (commit Commit, err error) {
	defer func() {
		if p := recover(); p != nil {
			commit, err = nil, &storage.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	if n := current.job.Crashes; n > maxCrashes {
		return nil, fmt.Errorf("the process ended %d times while it ran", n)
	}
	if r.Fence != nil {
		if err := r.Fence(current); err != nil {
			return nil, err
		}
	}
	return current.kind.Handle(current, current.job)
}

// finish frees the worker as soon as the handler has returned, without waiting
// for the commit. It returns false for a run whose job was taken away: its worker
// was freed then.
func (r *Runner) finish(current *run) bool {
	r.mu.Lock()
	mine := current.phase == working
	var next []storage.Job
	if mine {
		current.phase = answered
		next = r.freeWorker(current)
	}
	r.mu.Unlock()

	r.startAll(current.kind, next)
	return mine
}

// freeWorker gives back the worker of a run. It returns the ready jobs of the lane
// that can start instead. The caller holds mu.
func (r *Runner) freeWorker(current *run) (next []storage.Job) {
	r.release(current.kind, current.job.Lane)
	return r.takeReady(current.kind, current.job.Lane)
}

// settle writes a run's outcome and returns its name. While the database cannot
// write, it tries again until the process ends. A commit that fails makes the run
// a failed one, and is not tried again here.
func (r *Runner) settle(current *run, commit Commit, failure error) string {
	if commit == nil { // a handler that returns both has logged its failure itself
		r.logFailure(current, failure)
	}

	for {
		outcome, write := r.outcome(current, commit, failure)
		err := r.DB.UpdateSoon(context.Background(), write)
		switch {
		case err == nil:
			return outcome
		case errors.Is(err, storage.ErrLeaseLost):
			return "lease_lost"
		case errors.Is(err, storage.ErrUnavailable):
			if !Pause(r.base, pauseAfterFault) {
				return "lease_lost" // the lease is freed at the next start
			}
		case commit != nil || failure == nil:
			commit, failure = nil, &commitError{err}
			r.logFailure(current, failure)
		default:
			return r.keepFailed(current, fmt.Errorf("%w; and this could not be written as usual: %w", failure, err))
		}
	}
}

// keepFailed keeps a job for a person to look at whose failed run cannot be written
// in any other way. It tries until it succeeds or the process ends: a job must not
// stay running with nothing that runs it.
func (r *Runner) keepFailed(current *run, failure error) string {
	for {
		r.Log.Error("could not store the result of a job", "job", current.job.ID, "kind", current.job.Kind, "error", failure)

		err := r.DB.Update(context.Background(), func(tx *storage.Tx) error {
			return fail(tx, current, failure)
		})
		switch {
		case err == nil:
			return "failed"
		case errors.Is(err, storage.ErrLeaseLost) || !Pause(r.base, pauseAfterFault):
			return "lease_lost"
		}
	}
}

// outcome decides how a run ends. It returns the name of that, and what writes it.
func (r *Runner) outcome(current *run, commit Commit, failure error) (string, func(*storage.Tx) error) {
	k, j := current.kind, current.job
	if failure == nil {
		return "done", func(tx *storage.Tx) error {
			if err := tx.FinishJob(j); err != nil || commit == nil {
				return err
			}
			return commit(tx)
		}
	}

	// That a run took too long counts, no matter what its handler returns: otherwise
	// a job that always takes too long would run for ever.
	later, postponed := errors.AsType[*postponed](failure)
	if postponed && !current.lapsed {
		return "postponed", func(tx *storage.Tx) error { return tx.ReleaseJob(j, min(later.end(tx.Now), tx.Now.Add(k.MaxDelay))) }
	}

	// We stopped the run, so its failure does not count. An outside call may have
	// had its effect or not, which InterruptJob records.
	if r.base.Err() != nil && commit == nil && !current.lapsed {
		return "interrupted", func(tx *storage.Tx) error { return tx.InterruptJob(j) }
	}

	if again, delay := k.shouldRetry(j, failure); again && j.Crashes <= maxCrashes {
		return "retry", func(tx *storage.Tx) error {
			if err := retry(tx, current, commit, failure, min(delay, k.MaxDelay)); err != nil || commit == nil {
				return err
			}
			return commit(tx)
		}
	}

	// It is out of attempts, and ends as its kind says, or is kept for a person to look at.
	return "failed", func(tx *storage.Tx) error {
		if k.GiveUp == nil {
			return fail(tx, current, failure)
		}
		if err := tx.FinishJob(j); err != nil {
			return err
		}
		return k.GiveUp(j, failure)(tx)
	}
}

func retry(tx *storage.Tx, current *run, commit Commit, failure error, delay time.Duration) error {
	if err := markEffect(tx, current, commit, failure); err != nil {
		return err
	}

	// A job taken from its run waits a while: a success that comes late is
	// written as long as no other run has had the job.
	if current.phase == abandoned {
		delay = max(delay, abandonedDelay)
	}
	return tx.RetryJob(current.job, tx.Now.Add(delay), failure.Error())
}

// fail keeps a job for a person to look at.
func fail(tx *storage.Tx, current *run, failure error) error {
	if err := markEffect(tx, current, nil, failure); err != nil {
		return err
	}
	return tx.FailJob(current.job, failure.Error())
}

// markEffect records for the next run that an outside call of this one may have had
// its effect: it certainly had if only its results could not be committed, and
// may have had if the run was cut off at the end of its lease. A handler that
// returns a commit with its failure has put that into it.
func markEffect(tx *storage.Tx, current *run, commit Commit, failure error) error {
	_, uncommitted := errors.AsType[*commitError](failure)
	_, postponed := errors.AsType[*postponed](failure)
	if uncommitted || current.lapsed && commit == nil && !postponed {
		return tx.MarkCutOff(current.job)
	}
	return nil
}

// commitError is a handler's result that could not be written.
type commitError struct{ cause error }

func (e *commitError) Error() string { return "commit: " + e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

// logFailure logs a run that failed. Being postponed or stopped is no failure.
func (r *Runner) logFailure(current *run, failure error) {
	_, waits := errors.AsType[*postponed](failure)
	if failure == nil || (waits || r.base.Err() != nil) && !current.lapsed {
		return
	}

	attrs := []any{"job", current.job.ID, "kind", current.job.Kind, "attempt", current.job.Attempt(), "error", failure}
	if p, ok := errors.AsType[*storage.PanicError](failure); ok {
		r.Log.Error("job panicked", append(attrs, "stack", string(p.Stack))...)
		return
	}
	r.Log.Warn("job failed", attrs...)
}

// Pause waits, or returns false when ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
