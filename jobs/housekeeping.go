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
	// abandonedAfter is longer than any step of making a broadcast takes.
	abandonedAfter = 10 * time.Minute
	// importsKept is how long one can be asked for what became of an import.
	importsKept = 30 * 24 * time.Hour
	// importFileGrace is how long a file may lie without its row.
	importFileGrace = 24 * time.Hour
)

// deleteExpired deletes what ends by itself: stored answers past the idempotency
// window, sessions and invitations of people, the times of their notifications, imports that are done, broadcasts that a crash
// left half made, counts of messages that are no longer shown, and callbacks whose message
// never came.
// applyRetention deletes what the settings keep for days.
func (w *Workers) deleteExpired(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	w.attempts.ForgetIdle()

	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}

	b := newBatchWriter(w.DB)
	for _, deleteOld := range []func(*storage.Tx, int) (int64, error){
		func(tx *storage.Tx, limit int) (int64, error) { return tx.DeleteOldIdempotentReplies(now, limit) },
		func(tx *storage.Tx, limit int) (int64, error) {
			return tx.DeleteOldMessageCounts(now.Add(-storage.MessageCountsKept), limit)
		},
		func(tx *storage.Tx, limit int) (int64, error) { return tx.DeleteOldGatewayMedia(now, limit) },
		(*storage.Tx).DeleteOldUserSessions,
		(*storage.Tx).DeleteOldPushTimes,
		(*storage.Tx).DeleteOldUserInvitations,
		func(tx *storage.Tx, limit int) (int64, error) {
			return tx.DeleteAbandonedBroadcasts(now.Add(-abandonedAfter), limit)
		},
		func(tx *storage.Tx, limit int) (int64, error) {
			return tx.DeleteOldContactImports(now.Add(-importsKept), limit)
		},
	} {
		if err := b.repeat(ctx, deleteOld); err != nil {
			return nil, err
		}
	}

	err = w.Imports.Sweep(time.Now().Add(-importFileGrace), func(id string) (isNeeded bool, err error) {
		return storage.Query(ctx, w.DB, func(rx *storage.Rx) (bool, error) { return rx.RunningImport(id) })
	})
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
