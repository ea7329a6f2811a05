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

// start runs a job for which a worker was reserved.
func (r *Runner) start(k *kindState, j storage.Job) {
	// A clock that was set since the job was leased must not make the lease longer.
	left := min(j.LeasedUntil.Sub(r.DB.Now()), k.Lease)
	ctx, cancel := context.WithTimeoutCause(r.base, left, errLeaseExpired)
	current := &run{job: j, expires: time.Now().Add(left), cancel: cancel}

	r.mu.Lock()
	r.running[j.ID] = current
	r.mu.Unlock()

	r.pool.run(r.base, func() {
		defer r.group.Done()
		defer cancel()

		began := time.Now()
		commit, err := r.handle(ctx, k, j)

		// A run whose lease expired was settled by expireLeases: its results are
		// not written.
		if !r.finish(current, k) {
			r.observe(k, "lease_lost", began)
			return
		}
		r.observe(k, r.settle(k, j, commit, err), began)
	})
}

// handle calls the handler. A panic fails the job, not the process.
func (r *Runner) handle(ctx context.Context, k *kindState, j storage.Job) (commit Commit, err error) {
	defer func() {
		if p := recover(); p != nil {
			commit, err = nil, &storage.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	if j.Crashes > maxCrashes {
		return nil, fmt.Errorf("the process ended %d times while it ran", j.Crashes)
	}
	return k.Handle(ctx, j)
}

// finish frees the worker as soon as the handler has returned, without waiting
// for the commit, and starts the next ready job of the lane. It returns false for
// a run whose lease expired: its worker was freed then.
func (r *Runner) finish(current *run, k *kindState) bool {
	var next []storage.Job

	r.mu.Lock()
	mine := r.running[current.job.ID] == current
	if mine {
		delete(r.running, current.job.ID)
		r.release(k, current.job.Lane)
		next = r.takeReady(k, current.job.Lane)
	}
	r.mu.Unlock()

	for _, j := range next {
		r.start(k, j)
	}
	return mine
}

// settle writes a run's outcome and returns its name. While the database cannot
// write, it tries again until the process ends. A commit that fails makes the run
// a failed one, and is not tried again here.
func (r *Runner) settle(k *kindState, j storage.Job, commit Commit, failure error) string {
	if commit == nil { // a handler that returns both has logged its failure itself
		r.logFailure(j, failure)
	}

	for {
		outcome, write := r.outcome(k, j, commit, failure)
		err := r.DB.Update(context.Background(), write)
		switch {
		case err == nil:
			return outcome
		case errors.Is(err, storage.ErrLeaseLost):
			return "lease_lost"
		case errors.Is(err, storage.ErrUnavailable):
			if !pause(r.base, pauseAfterFault) {
				return "lease_lost" // the lease is freed at the next start
			}
		case commit != nil || failure == nil:
			commit, failure = nil, &commitError{err}
			r.logFailure(j, failure)
		default:
			r.Log.Error("settle a job", "job", j.ID, "kind", j.Kind, "error", err)
			return "lease_lost"
		}
	}
}

// outcome decides how a run ends. It returns the name of that, and what writes it.
func (r *Runner) outcome(k *kindState, j storage.Job, commit Commit, failure error) (string, func(*storage.Tx) error) {
	if failure == nil {
		return "done", func(tx *storage.Tx) error {
			if err := tx.FinishJob(j); err != nil || commit == nil {
				return err
			}
			return commit(tx)
		}
	}

	if later, ok := errors.AsType[*postponed](failure); ok {
		return "postponed", func(tx *storage.Tx) error {
			return tx.ReleaseJob(j, min(later.until, tx.Now.Add(k.MaxDelay)))
		}
	}

	// We stopped the run, so its failure does not count. An outside call may have
	// had its effect or not, which InterruptJob records.
	if r.base.Err() != nil && commit == nil {
		return "interrupted", func(tx *storage.Tx) error { return tx.InterruptJob(j) }
	}

	if retry, delay := k.shouldRetry(j, failure); retry && j.Crashes <= maxCrashes {
		return "retry", func(tx *storage.Tx) error {
			if err := r.retry(tx, j, min(delay, k.MaxDelay), failure); err != nil || commit == nil {
				return err
			}
			return commit(tx)
		}
	}

	return "failed", func(tx *storage.Tx) error { return giveUp(tx, k, j, failure) }
}

// retry puts a job back for another run. If its results could not be committed,
// its outside call had its effect all the same, and the next run must know.
func (r *Runner) retry(tx *storage.Tx, j storage.Job, delay time.Duration, failure error) error {
	if err := tx.RetryJob(j, tx.Now.Add(delay), failure.Error()); err != nil {
		return err
	}
	if _, uncommitted := errors.AsType[*commitError](failure); uncommitted {
		return tx.MarkCallBegun(j)
	}
	return nil
}

// giveUp ends a job that is out of attempts: as its kind says, or by keeping it
// for a person to look at.
func giveUp(tx *storage.Tx, k *kindState, j storage.Job, failure error) error {
	if k.GiveUp == nil {
		return tx.FailJob(j, failure.Error())
	}
	if err := tx.FinishJob(j); err != nil {
		return err
	}
	return k.GiveUp(j, failure)(tx)
}

// commitError is a handler's result that could not be written.
type commitError struct{ cause error }

func (e *commitError) Error() string { return "commit: " + e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

// logFailure logs a run that failed. Being postponed or stopped is no failure.
func (r *Runner) logFailure(j storage.Job, failure error) {
	if _, waits := errors.AsType[*postponed](failure); failure == nil || waits || r.base.Err() != nil {
		return
	}

	attrs := []any{"job", j.ID, "kind", j.Kind, "attempt", j.Attempt(), "error", failure}
	if p, ok := errors.AsType[*storage.PanicError](failure); ok {
		r.Log.Error("job panicked", append(attrs, "stack", string(p.Stack))...)
		return
	}
	r.Log.Warn("job failed", attrs...)
}

// errLeaseExpired is the cause of a handler's context that ends with its lease.
var errLeaseExpired = errors.New("the job's lease is over")

// expireLeases takes jobs away from handlers that did not return at the end of
// their lease. What such a handler returns later is not written.
func (r *Runner) expireLeases() {
	var expired []*run

	r.mu.Lock()
	now := time.Now()
	for id, current := range r.running {
		if !now.Before(current.expires) {
			expired = append(expired, current)
			delete(r.running, id)
			r.release(r.kinds[current.job.Kind], current.job.Lane)
		}
	}
	r.mu.Unlock()

	for _, current := range expired {
		k := r.kinds[current.job.Kind]
		r.group.Go(func() { r.settle(k, current.job, nil, errLeaseExpired) })
	}
}

func (r *Runner) observe(k *kindState, outcome string, began time.Time) {
	if r.OnRun != nil {
		r.OnRun(RunResult{Kind: k.Name, Outcome: outcome, Took: time.Since(began)})
	}
}

// pause waits, or returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
