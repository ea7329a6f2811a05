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
	// One of its lane that was interrupted or failed is after it in the queue, but its event came first.
	due, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Time, error) { return rx.OlderFanOut(job) })
	if err == nil {
		return nil, queue.PostponeUntil(max(due, w.DB.Now().Add(fanOutPause)))
	}
	if storage.IgnoreNotFound(err) != nil {
		return nil, err
	}

	return nil, w.repeatInSteps(ctx, func(tx *storage.Tx) (bool, error) {
		next, done, err := tx.FanOut(job, args)
		tx.AfterCommit(func() { args = next })
		return done, err
	})
}

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

// deleteSubscription deletes a subscription that is marked as deleted, with its deliveries.
func (w *Workers) deleteSubscription(ctx context.Context, _ storage.Job, args storage.SubscriptionArgs) (queue.Commit, error) {
	return nil, w.repeatInSteps(ctx, func(tx *storage.Tx) (bool, error) { return tx.DeleteSubscriptionStep(args.Subscription) })
}

// repeatInSteps repeats a step, each in its own transaction, until it says that all is done.
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
