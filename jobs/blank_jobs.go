package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// blankLease is long enough for a queue of tens of millions of jobs.
const blankLease = time.Hour

// blankJobs takes the words of deleted messages out of the jobs that send them or fetch their
// files. At its end the log is emptied, even if it found none: one may have ended after the
// message was deleted, and before the walk came to it.
func (w *Workers) blankJobs(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	kinds := []string{kindSend, kindSendLater, kindBroadcastSend, kindMediaFetch}
	b := newBatchWriter(w.DB)
	err := b.changeFound(ctx, func(rx *storage.Rx, after int64) ([]int64, error) {
		return rx.JobsToBlank(kinds, after, b.size)
	}, (*storage.Tx).BlankJobs)
	if err != nil {
		return nil, err
	}

	return func(tx *storage.Tx) error {
		tx.CountErasure()
		return nil
	}, nil
}
