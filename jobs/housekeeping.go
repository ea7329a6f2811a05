package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindHousekeeping  = "housekeeping"
	housekeepingEvery = 10 * time.Minute
)

// deleteExpired deletes what is kept for a day at most: stored answers past the
// idempotency window, and callbacks whose message never came. applyRetention
// deletes what is kept for days.
func (w *Workers) deleteExpired(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	w.attempts.forgetIdle()

	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}

	b := newBatchWriter(w.DB)
	err = b.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) { return tx.DeleteOldIdempotentReplies(now, limit) })
	if err != nil {
		return nil, err
	}

	var dropped int64
	err = b.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		n, err := tx.DropParkedStatuses(now, limit)
		tx.AfterCommit(func() { dropped += n })
		return n, err
	})

	if dropped > 0 {
		w.Log.Warn("dropped callbacks that match no message", "count", dropped)
		if w.OnDropped != nil {
			w.OnDropped(dropped)
		}
	}
	return nil, err
}
