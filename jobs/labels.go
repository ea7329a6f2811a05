package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// labelLease is long enough for a label on tens of millions of contacts.
const labelLease = 2 * time.Hour

// detachLabel takes a deleted label off all that has it, in small steps, and deletes its row.
func (w *Workers) detachLabel(ctx context.Context, _ storage.Job, args storage.LabelArgs) (queue.Commit, error) {
	return nil, newBatchWriter(w.DB).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DetachLabel(args.Label, limit)
	})
}

// touchLabeled counts the conversations of a changed label as updated, in small steps.
func (w *Workers) touchLabeled(ctx context.Context, _ storage.Job, args storage.LabelArgs) (queue.Commit, error) {
	return nil, walk(ctx, newBatchWriter(w.DB), func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.LabeledConversations(args.Label, after, limit)
	}, (*storage.Tx).TouchConversations)
}
