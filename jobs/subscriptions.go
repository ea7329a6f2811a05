package jobs

import (
	"context"
	"encoding/json"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// subscriptionLease is time for the deliveries of a very busy subscription.
const subscriptionLease = 10 * time.Minute

// buryDeliveries makes the rest of a disabled subscription's outstanding
// deliveries dead, a few at a time so that others can write in between.
func (w *Workers) buryDeliveries(ctx context.Context, job storage.Job) (queue.Commit, error) {
	return nil, w.stepwise(ctx, job, func(tx *storage.Tx, subscription string) (bool, error) {
		n, err := tx.BuryDeliveries(subscription)
		return n < storage.DeliveriesPerStep, err
	})
}

// uprootSubscription removes the rest of a deleted subscription.
func (w *Workers) uprootSubscription(ctx context.Context, job storage.Job) (queue.Commit, error) {
	return nil, w.stepwise(ctx, job, (*storage.Tx).UprootSubscription)
}

// stepwise repeats a step on a job's subscription, each in a transaction of its
// own, until it is done or the job's time is over: the next run goes on.
func (w *Workers) stepwise(ctx context.Context, job storage.Job, step func(*storage.Tx, string) (bool, error)) error {
	var args storage.SubscriptionArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return err
	}
	for {
		var done bool
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			done, err = step(tx, args.Subscription)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}
