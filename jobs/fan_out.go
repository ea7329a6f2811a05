package jobs

import (
	"context"
	"errors"
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

	for done := false; !done; {
		queue.Extend(ctx)
		var next storage.FanOutArgs
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			next, done, err = tx.FanOut(job, args)
			return err
		})
		if err != nil {
			return nil, err
		}
		args = next
	}
	return nil, nil
}

// waitForOlder postpones a job while an older one of its lane is not done: one that was
// interrupted or failed is after it in the queue, but its event came first.
func (w *Workers) waitForOlder(ctx context.Context, job storage.Job) error {
	due, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Time, error) { return rx.OlderFanOut(job) })

	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return queue.PostponeUntil(max(due, w.DB.Now().Add(fanOutPause)))
}
