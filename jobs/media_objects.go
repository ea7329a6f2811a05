package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindObjectRemoval  = "media.delete_objects"
	objectRemovalEvery = 10 * time.Minute
	objectRemovalLease = 10 * time.Minute
	// objectsAtOnce is how many objects are looked at between two transactions.
	objectsAtOnce = 100
)

// markUnused reports whether no row names a file any more. If it is an object, that is
// recorded, and deleteObjects deletes it when its time has come.
func (w *Workers) markUnused(tx *storage.Tx, sum string) (unused bool, err error) {
	used, err := tx.MediaUses(sum)
	if err != nil || used {
		return false, err
	}
	if w.Files.HasStore() {
		err = tx.MarkObjectUnused(sum)
	}
	return true, err
}

// deleteObjects deletes the objects that no row has named for as long as they are kept.
// Only the server does so, and of several that have shared a database, the one in force.
func (w *Workers) deleteObjects(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	if !w.Files.HasStore() {
		return nil, nil
	}
	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}

	for after := ""; ; {
		unused, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]string, error) {
			return rx.UnusedObjects(now.Add(-w.ObjectsKept), after, objectsAtOnce)
		})
		if err != nil || len(unused) == 0 {
			return nil, err
		}

		if err := w.deleteUnusedObjects(ctx, unused, now); err != nil {
			return nil, err
		}
		after = unused[len(unused)-1]
		queue.Extend(ctx)
	}
}

// deleteUnusedObjects deletes objects unless a row names them again. A young one stays, because
// its row may follow, and is looked at again later.
func (w *Workers) deleteUnusedObjects(ctx context.Context, sums []string, now storage.Time) error {
	if w.InForce != nil {
		if err := w.InForce(ctx); err != nil {
			return err
		}
	}
	unused, err := w.unusedOf(ctx, sums)
	if err != nil {
		return err
	}

	young := make(map[string]bool)
	for _, sum := range unused {
		gone, deleteErr := w.Files.DeleteObject(ctx, sum, now.Add(-mediaGrace).Std())
		young[sum] = !gone
		if deleteErr != nil {
			err = deleteErr
			break
		}
	}

	return errors.Join(err, w.DB.Update(ctx, func(tx *storage.Tx) error {
		for _, sum := range sums {
			if left, looked := young[sum]; left || !looked && err != nil {
				continue
			}
			if err := tx.ForgetUnusedObject(sum); err != nil {
				return err
			}
		}
		return nil
	}))
}

// findUnusedObjects records the objects that no row names: a crash, or an older database that
// was restored, leaves such.
func (w *Workers) findUnusedObjects(ctx context.Context, now storage.Time) error {
	if !w.Files.HasStore() {
		return nil
	}

	var sums []string
	record := func() error {
		unused, err := w.unusedOf(ctx, sums)
		sums = sums[:0]
		if err != nil || len(unused) == 0 {
			return err
		}
		return w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.NoticeUnusedObjects(unused) })
	}

	err := w.Files.EachObject(ctx, func(sum string, _ int64, modified time.Time) error {
		if modified.Before(now.Add(-mediaGrace).Std()) {
			sums = append(sums, sum)
		}
		if len(sums) < objectsAtOnce {
			return nil
		}
		return record()
	})
	return errors.Join(err, record())
}
