package queue

import (
	"context"
	"time"

	"confab/storage"
)

// enqueuePeriodic enqueues a job of each periodic kind whose time has come.
func (r *Runner) enqueuePeriodic(ctx context.Context) error {
	for _, k := range r.order {
		if k.Every == 0 || storage.Now() < k.nextRun {
			continue
		}
		if r.busy(k) { // its last job still runs: skip this one
			k.nextRun = storage.Now().Add(k.Every)
			continue
		}

		var last storage.Time
		err := r.DB.View(ctx, func(rx *storage.Rx) (err error) {
			last, err = rx.PeriodicRun(k.Name)
			return err
		})
		if err != nil {
			return err
		}

		// The process before may have enqueued one recently. A time in the future
		// means that the clock was set back: it is ignored.
		if due := last.Add(k.Every); last != 0 && last <= storage.Now() && due > storage.Now() {
			k.nextRun = due
			continue
		}

		if err := r.DB.Update(ctx, func(tx *storage.Tx) error { return tx.EnqueuePeriodic(k.Name) }); err != nil {
			return err
		}
		k.nextRun = storage.Now().Add(k.Every)
	}
	return nil
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
				next = earlier(next, k.nextRun)
			}
		}
		return nil
	})

	r.mu.Lock()
	defer r.mu.Unlock()

	now := storage.Now()
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
		pause = max(0, min(pause, next.Sub(storage.Now())))
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
