package queue

import (
	"context"
	"time"

	"confab/storage"
)

// enqueuePeriodic enqueues a job of each periodic kind whose time has come.
func (r *Runner) enqueuePeriodic(ctx context.Context) error {
	for _, k := range r.order {
		if k.Every == 0 || time.Now().Before(k.nextRun) {
			continue
		}
		if r.busy(k) { // its last job still runs: skip this one
			k.nextRun = time.Now().Add(k.Every)
			continue
		}

		if k.nextRun.IsZero() {
			wait, err := r.untilFirstRun(ctx, k)
			if err != nil {
				return err
			}
			if k.nextRun = time.Now().Add(wait); wait > 0 {
				continue
			}
		}

		if err := r.DB.Update(ctx, func(tx *storage.Tx) error { return tx.EnqueuePeriodic(k.Name) }); err != nil {
			return err
		}
		k.nextRun = time.Now().Add(k.Every)
	}
	return nil
}

// untilFirstRun is how long a periodic kind waits after the start: the process before
// may have enqueued a job recently. A time in the future means that the clock was set
// back, and is ignored.
func (r *Runner) untilFirstRun(ctx context.Context, k *kindState) (time.Duration, error) {
	var last storage.Time
	err := r.DB.View(ctx, func(rx *storage.Rx) (err error) {
		last, err = rx.PeriodicRun(k.Name)
		return err
	})

	now := r.DB.Now()
	if err != nil || last > now {
		return 0, err
	}
	return last.Add(k.Every).Sub(now), nil
}

// busy tells whether a job of the kind is running.
func (r *Runner) busy(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return k.running > 0
}

// findNextDue finds when the next job is due. A kind that has one due already,
// although nothing marked it as waiting, is marked for the next pass.
func (r *Runner) findNextDue(ctx context.Context) (storage.Time, error) {
	var next storage.Time
	due := make(map[*kindState]storage.Time, len(r.order))

	// Cleared before the read: Stored sets it again for jobs that the read misses.
	r.mu.Lock()
	r.nextDue = 0
	r.mu.Unlock()

	err := r.DB.View(ctx, func(rx *storage.Rx) error {
		for _, k := range r.order {
			at, err := rx.NextDue(k.Name)
			if err != nil {
				return err
			}
			due[k] = at
			if k.Every > 0 {
				next = earlier(next, r.DB.Now().Add(time.Until(k.nextRun)+time.Millisecond)) // times are cut to milliseconds
			}
		}
		return nil
	})

	r.mu.Lock()
	defer r.mu.Unlock()

	now := r.DB.Now()
	for k, at := range due {
		switch {
		case at == 0:
		case at <= now:
			if !k.waiting {
				k.waiting = true
				r.signal()
			}
		default:
			next = earlier(next, at)
		}
	}
	return next, err
}

// wait sleeps until a signal, the next due job, or the next poll.
func (r *Runner) wait(ctx context.Context, next storage.Time) {
	r.mu.Lock()
	next = earlier(next, r.nextDue)
	r.mu.Unlock()

	pause := r.Poll
	if next != 0 {
		pause = max(0, min(pause, next.Sub(r.DB.Now())))
	}

	timer := time.NewTimer(pause)
	defer timer.Stop()

	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-timer.C:
	}
}

// earlier is the earlier of two times, of which 0 means never.
func earlier(a, b storage.Time) storage.Time {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
