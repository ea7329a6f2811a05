package queue

import (
	"context"
	"math"
	"time"

	"confab/storage"
)

// The clock may be set at any moment, and may have been wrong before the runner
// started. Times that only this process uses (leases, the next run of a periodic kind) are
// therefore kept as a time.Time with the reading of a clock that cannot be set. But
// due_at is stored, and was computed from the clock of that moment: a retry that was put
// back while the clock was 200 days ahead would wait for 200 days. So
//
//   - a start makes every retry due that waits longer than its kind ever does, and of a
//     kind that looks at the clock itself every retry and what was made in the future;
//   - a clock that is set back while the runner runs takes along all retries that
//     wait, by as much.
//
// A job that has not run yet may wait until a time that somebody chose, and is left
// alone, unless it was made at a time that is now in the future and only waits as long as its
// kind does.

// clockTolerance is how far the clock may be set back without being noticed.
const clockTolerance = time.Minute

// advanceImpossible makes the jobs due that wait longer than any of their kind, or that
// may do so and can find out.
func (r *Runner) advanceImpossible(ctx context.Context) error {
	for _, k := range r.order {
		beyond := r.DB.Now()
		if !k.LooksAtClock {
			beyond = beyond.Add(k.MaxDelay)
		}
		if err := r.advance(ctx, k, beyond, math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// followClock makes waiting jobs due as much earlier as the clock was set back since the last pass.
func (r *Runner) followClock(ctx context.Context) error {
	now, at := r.DB.Now(), time.Now()
	back := r.passedNow.Add(at.Sub(r.passedAt)).Sub(now)

	if !r.passedAt.IsZero() && back > clockTolerance {
		r.Log.Warn("the clock was set back: waiting jobs were moved back with it", "by", back.Round(time.Second).String())
		for _, k := range r.order {
			if err := r.advance(ctx, k, now, back); err != nil {
				return err // the next pass does it again
			}
		}
	}

	r.passedNow, r.passedAt = now, at
	return nil
}

// advance makes jobs of a kind that wait beyond a time due so much earlier.
func (r *Runner) advance(ctx context.Context, k *kindState, beyond storage.Time, by time.Duration) error {
	after := storage.DueJob{DueAt: beyond}
	for {
		var late []storage.DueJob
		err := r.DB.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
			late, err = rx.LateJobs(k.Name, k.MaxDelay, after, maxClaim)
			return err
		})
		if err != nil || len(late) == 0 {
			return err
		}

		if err := r.DB.Update(ctx, func(tx *storage.Tx) error { return tx.AdvanceJobs(late, by) }); err != nil {
			return err
		}
		after = late[len(late)-1]

		r.locked(func() { k.waiting, k.dueKnown = true, false })
	}
}
