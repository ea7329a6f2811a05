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
		var isBusy bool
		r.locked(func() { isBusy = k.running > 0 })
		if isBusy { // its last job still runs: skip this one
			k.nextRun = time.Now().Add(k.Every)
			continue
		}

		// The process before may have enqueued a job recently. A time in the future means that the clock
		// was set back, and is ignored.
		if k.nextRun.IsZero() {
			last, err := storage.Query(ctx, r.DB, func(rx *storage.Rx) (storage.Time, error) { return rx.PeriodicRun(k.Name) })
			if err != nil {
				return err
			}
			now := r.DB.Now()
			if wait := last.Add(k.Every).Sub(now); last <= now && wait > 0 {
				k.nextRun = time.Now().Add(wait)
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

// findNextDue finds when the next job is due. A kind that has one due already,
// although nothing marked it as waiting, is marked for the next pass.
func (r *Runner) findNextDue(ctx context.Context) (next storage.Time, err error) {
	if err := r.readDue(ctx); err != nil {
		return 0, err
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	now := r.DB.Now()
	for _, k := range r.order {
		if k.Every > 0 {
			next = earlier(next, now.Add(time.Until(k.nextRun)+time.Millisecond)) // times are cut to milliseconds
		}
		if k.due == 0 || k.due > now {
			next = earlier(next, k.due)
			continue
		}

		k.dueKnown = false // it will be claimed, or is gone
		if !k.waiting {
			k.waiting = true
			r.signal()
		}
	}
	return next, nil
}

// readDue reads when the next job is due of the kinds of which that is not known.
func (r *Runner) readDue(ctx context.Context) error {
	// Known from before the read on: Stored reports the jobs that the read misses.
	var unknown []*kindState
	r.mu.Lock()
	for _, k := range r.order {
		if !k.dueKnown {
			k.due, k.dueKnown = 0, true
			unknown = append(unknown, k)
		}
	}
	r.mu.Unlock()
	if len(unknown) == 0 {
		return nil
	}

	due := make([]storage.Time, len(unknown))
	err := r.DB.View(ctx, func(rx *storage.Rx) (err error) {
		for i, k := range unknown {
			if due[i], err = rx.NextDue(k.Name); err != nil {
				return err
			}
		}
		return nil
	})

	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range unknown {
		k.due = earlier(k.due, due[i])
		k.dueKnown = k.dueKnown && err == nil
	}
	return err
}

// wait sleeps until a signal, the next due job, or the next poll. After a poll all is
// looked at: something may have changed the queue without a signal.
func (r *Runner) wait(ctx context.Context, next storage.Time) {
	pause, now := r.Poll, r.DB.Now()

	r.mu.Lock()
	for _, k := range r.order {
		if k.dueKnown {
			next = earlier(next, k.due) // one may have been stored since
		}
	}
	if next != 0 {
		pause = max(0, min(pause, next.Sub(now)))
	}
	r.sleepsUntil = now.Add(pause)
	r.mu.Unlock()

	select {
	case <-ctx.Done():
	case <-r.wake:
	case m := <-r.moves:
		r.beginMove(ctx, m)
	case <-time.After(pause):
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.sleepsUntil = 0
	if time.Since(r.polledAt) >= r.Poll {
		r.polledAt = time.Now()
		for _, k := range r.order {
			k.dueKnown = false
		}
	}
}

// earlier is the earlier of two times, of which 0 means never.
func earlier(a, b storage.Time) storage.Time {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
