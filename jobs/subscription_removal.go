package jobs

import (
	"context"
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
func (w *Workers) failDeliveries(ctx context.Context, _ storage.Job, args storage.SubscriptionArgs) (queue.Commit, error) {
	return nil, w.repeatInSteps(ctx, func(tx *storage.Tx) (bool, error) {
		n, err := tx.FailOutstandingDeliveries(args.Subscription)
		return n < storage.DeliveriesPerStep, err
	})
}

// deleteSubscription deletes a subscription, which is marked as deleted already,
// with its deliveries.
func (w *Workers) deleteSubscription(ctx context.Context, _ storage.Job, args storage.SubscriptionArgs) (queue.Commit, error) {
	return nil, w.repeatInSteps(ctx, func(tx *storage.Tx) (bool, error) { return tx.DeleteSubscriptionStep(args.Subscription) })
}

// repeatInSteps repeats a step, each in a transaction of its own, until the step says that
// all is done.
func (w *Workers) repeatInSteps(ctx context.Context, step func(*storage.Tx) (bool, error)) error {
	for {
		queue.Extend(ctx)
		var done bool
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			done, err = step(tx)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}
