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
	_, err := tx.Enqueue(storage.NewJob{
		Kind:  kindMediaRemoval,
		Args:  mediaRemovalArgs{storage.AboutAccount{Account: m.AccountID}, m.ID, m.SHA256},
		DueAt: tx.Now.Add(mediaGrace + time.Minute),
	})
	return err
}

// removeMedia deletes the row of deleted media, and the file if it was the last
// row that used it. It waits as long as a message with the media is queued.
func (w *Workers) removeMedia(ctx context.Context, _ storage.Job, args mediaRemovalArgs) (queue.Commit, error) {
	needed := false
	err := w.DB.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
		needed, err = rx.JobNames(kindSend, args.Media)
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
	tx.AfterCommit(func() {
		if err := w.Files.Remove(sum, since); err != nil {
			w.Log.Error("could not remove a file", "sha256", sum, "error", err)
		}
	})
	return nil
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

// unusedOf are the files that no row names.
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
