package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	// fanOutPause is how long a job at least waits for one before it.
	fanOutPause = 10 * time.Millisecond
	// fanOutMaxRun is long enough for any number of subscriptions.
	fanOutMaxRun = time.Hour
)

// fanOut makes the deliveries of an event that many subscriptions want, in steps that
// each hold the writer briefly. All of them are made when it returns: the next event of
// the organization may begin then.
func (w *Workers) fanOut(ctx context.Context, job storage.Job, args storage.FanOutArgs) (queue.Commit, error) {
	if err := w.waitForOlder(ctx, job); err != nil {
		return nil, err
	}

	return nil, w.repeatInSteps(ctx, func(tx *storage.Tx) (bool, error) {
		next, done, err := tx.FanOut(job, args)
		tx.AfterCommit(func() { args = next })
		return done, err
	})
}

// waitForOlder postpones a job while an older one of its lane is not done: one that was
// interrupted or failed is after it in the queue, but its event came first.
func (w *Workers) waitForOlder(ctx context.Context, job storage.Job) error {
	due, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Time, error) { return rx.OlderFanOut(job) })
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	return queue.PostponeUntil(max(due, w.DB.Now().Add(fanOutPause)))
}
