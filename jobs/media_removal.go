package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindMediaRemoval = "media.remove"
	kindMediaSweep   = "media.remove_unused"

	// mediaGrace is how long deleted media stays for messages that were accepted
	// with it. While such a message still waits, the time is extended by as much. A
	// file without a row also stays so long, because its row may follow.
	mediaGrace      = time.Hour
	mediaSweepEvery = 6 * time.Hour
)

type mediaRemovalArgs struct {
	storage.AboutAccount
	Media  string `json:"media"`
	SHA256 string `json:"sha256"`
}

// EnqueueMediaRemoval stores the job that removes media that was marked as deleted.
// It runs after mediaGrace, for messages that need it, and a minute more: files
// younger than mediaGrace are left alone, also one that was deleted right after
// its upload.
func EnqueueMediaRemoval(tx *storage.Tx, m storage.Media) error {
	return enqueue(tx, storage.NewJob{
		Kind:  kindMediaRemoval,
		Args:  mediaRemovalArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, m.SHA256},
		DueAt: tx.Now.Add(mediaGrace + time.Minute),
	})
}

// removeMedia deletes the row of deleted media, and the file if it was the last
// row that used it. It waits as long as a message with the media is queued or scheduled, or a
// broadcast with it is not over.
func (w *Workers) removeMedia(ctx context.Context, _ storage.Job, args mediaRemovalArgs) (queue.Commit, error) {
	needed := false
	err := w.DB.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
		needed, err = rx.JobNames([]string{kindSend, kindSendLater, kindBroadcastSend}, args.Media)
		if err == nil && !needed {
			needed, err = rx.UnfinishedBroadcastNames(args.Account, args.Media)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if needed {
		return nil, queue.Postpone(mediaGrace)
	}

	detach := func(tx *storage.Tx, limit int) (int64, error) { return tx.DetachMedia(args.Media, limit) }
	if err := newBatchWriter(w.DB).repeat(ctx, detach); err != nil {
		return nil, err
	}

	return func(tx *storage.Tx) error {
		if err := tx.DeleteMedia(args.Account, args.Media); err != nil {
			return err
		}
		return w.removeUnused(tx, args.SHA256, tx.Now)
	}, nil
}

// removeUnused removes a file that no row uses, after the commit of the transaction
// that says so. After a crash before that, sweepMedia finds the file. A new row for
// the same content has stored its file again: files that are young at now are left
// alone.
func (w *Workers) removeUnused(tx *storage.Tx, sum string, now storage.Time) error {
	unused, err := w.markUnused(tx, sum)
	if err != nil || !unused {
		return err
	}

	since := now.Add(-mediaGrace).Std()
	tx.AfterCommit(func() { w.removeFile(sum, since) })
	return nil
}

// removeFile removes a file that no row uses, unless it was stored again since a time.
func (w *Workers) removeFile(sum string, since time.Time) {
	if err := w.Files.Remove(sum, since); err != nil {
		w.Log.Error("could not remove a file", "sha256", sum, "error", err)
	}
}

// sweepMedia removes the files that a crash left without a row. removeUnused looks
// for a row once more, on the writer, because one may come after the read.
func (w *Workers) sweepMedia(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}
	if err := w.findUnusedObjects(ctx, now); err != nil {
		w.Log.Warn("could not look for unused media in object storage", "error", err)
	}

	return nil, w.Files.Each(now.Add(-mediaGrace).Std(), func(sums []string) error {
		unused, err := w.unusedOf(ctx, sums)
		for _, sum := range unused {
			err = errors.Join(err, w.DB.Update(ctx, func(tx *storage.Tx) error { return w.removeUnused(tx, sum, now) }))
		}
		return err
	})
}

func (w *Workers) unusedOf(ctx context.Context, sums []string) (unused []string, err error) {
	err = w.DB.View(ctx, func(rx *storage.Rx) error {
		for _, sum := range sums {
			used, err := rx.MediaUses(sum)
			if err != nil {
				return err
			}
			if !used {
				unused = append(unused, sum)
			}
		}
		return nil
	})
	return unused, err
}

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
