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
	// purgeBatch keeps each delete short, so that writes of others slip in between.
	purgeBatch = 500
)

// keepHouse deletes what has outlived its use: answers past the idempotency
// window and old lines of the API log.
func (w *Workers) keepHouse(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	if err := w.inBatches(ctx, (*storage.Tx).DeleteOldAnswers); err != nil {
		return nil, err
	}
	keep := time.Duration(w.APILogDays) * 24 * time.Hour
	return nil, w.inBatches(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DeleteCalls(tx.Now.Add(-keep), limit)
	})
}

// inBatches repeats a delete until it finds nothing more.
func (w *Workers) inBatches(ctx context.Context, delete func(*storage.Tx, int) (int64, error)) error {
	for {
		var n int64
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			n, err = delete(tx, purgeBatch)
			return err
		})
		if err != nil || n < purgeBatch {
			return err
		}
	}
}
