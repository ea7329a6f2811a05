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

// keepHouse deletes what has a short life: answers past the idempotency window
// and callbacks whose message never turned up. What is kept for days is
// the business of retain.
func (w *Workers) keepHouse(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	w.traffic.forget()
	g := newGentle(w.DB)
	if err := g.repeat(ctx, (*storage.Tx).DeleteOldAnswers); err != nil {
		return nil, err
	}
	var dropped int64
	err := g.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		n, err := tx.DropParkedStatuses(limit)
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
