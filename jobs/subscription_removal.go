package jobs

import (
	"context"
	"encoding/json"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	// subscriptionLease is the time limit of one step, which is far shorter.
	subscriptionLease = 10 * time.Minute
	// subscriptionMaxRun is long enough for the deliveries of a very busy subscription.
	subscriptionMaxRun = 12 * time.Hour
)

// failDeliveries marks the outstanding deliveries of a disabled subscription as
// dead, a few at a time so that others can write in between.
func (w *Workers) failDeliveries(ctx context.Context, job storage.Job) (queue.Commit, error) {
	return nil, w.repeatInSteps(ctx, job, func(tx *storage.Tx, subscription string) (bool, error) {
		n, err := tx.FailOutstandingDeliveries(subscription)
		return n < storage.DeliveriesPerStep, err
	})
}

// deleteSubscription deletes a subscription, which is marked as deleted already,
// with its deliveries.
func (w *Workers) deleteSubscription(ctx context.Context, job storage.Job) (queue.Commit, error) {
	return nil, w.repeatInSteps(ctx, job, (*storage.Tx).DeleteSubscriptionStep)
}

// repeatInSteps repeats a step on a job's subscription, each in a transaction of
// its own, until the step says that all is done.
func (w *Workers) repeatInSteps(ctx context.Context, job storage.Job, step func(*storage.Tx, string) (bool, error)) error {
	var args storage.SubscriptionArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return err
	}

	for {
		queue.Extend(ctx)
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
