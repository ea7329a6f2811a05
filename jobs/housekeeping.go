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
	// vacuumBatch pages are given back in one transaction, until keptPages are left.
	vacuumBatch = 200
	keptPages   = 256
)

// keepHouse deletes what has outlived its use, answers past the idempotency
// window, old lines of the API log, old raw callbacks and parked statuses, and
// shrinks the file.
func (w *Workers) keepHouse(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	if err := w.inBatches(ctx, (*storage.Tx).DeleteOldAnswers); err != nil {
		return nil, err
	}
	keep := time.Duration(w.APILogDays) * 24 * time.Hour
	for _, delete := range []func(*storage.Tx, storage.Time, int) (int64, error){(*storage.Tx).DeleteCalls, (*storage.Tx).DeleteRawCallbacks} {
		err := w.inBatches(ctx, func(tx *storage.Tx, limit int) (int64, error) { return delete(tx, tx.Now.Add(-keep), limit) })
		if err != nil {
			return nil, err
		}
	}
	if err := w.dropParked(ctx); err != nil {
		return nil, err
	}
	return nil, w.returnSpace(ctx)
}

// dropParked deletes status callbacks whose message never turned up, and says
// how many.
func (w *Workers) dropParked(ctx context.Context) error {
	var dropped int64
	err := w.inBatches(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		n, err := tx.DropParkedStatuses(limit)
		dropped += n
		return n, err
	})
	if dropped > 0 {
		w.Log.Warn("dropped status callbacks that match no message", "count", dropped)
	}
	return err
}

// returnSpace shrinks the file when much of it is empty; a little is kept for
// the rows to come.
func (w *Workers) returnSpace(ctx context.Context) error {
	for {
		var free int64
		err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
			free, err = rx.FreePages()
			return err
		})
		if err != nil || free <= keptPages {
			return err
		}
		if err := w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.ReturnSpace(vacuumBatch) }); err != nil {
			return err
		}
	}
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
