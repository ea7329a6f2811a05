package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindAccountSweep = "account.check_all"
	kindAccountCheck = "account.check"

	accountSweepEvery = time.Hour
	accountSweepLease = 10 * time.Minute
	accountCheckLease = 5 * time.Minute

	// accountChecks is how many checks run at once: few, because no request waits
	// for them.
	accountChecks = 4
	// sweptAttempts is how often a check of the sweep is tried. After that the next
	// sweep tries it again.
	sweptAttempts = 3
)

type accountCheckArgs struct {
	storage.AboutAccount
	Swept bool `json:"swept,omitempty"` // made by the sweep: another one follows within the hour
}

// EnqueueAccountCheck stores the job that asks the provider for the state of an
// account and of its templates.
func EnqueueAccountCheck(tx *storage.Tx, account int64) error {
	return enqueue(tx, storage.NewJob{Kind: kindAccountCheck, Args: accountCheckArgs{storage.AboutAccount{Account: account}, false}})
}

// sweepAccounts enqueues a check of each account that was not checked lately. Each
// is a job of its own, so that errors of one account do not affect the others.
func (w *Workers) sweepAccounts(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	since := w.DB.Now().Add(-accountSweepEvery / 2)
	return nil, walk(ctx, newBatchWriter(w.DB), func(rx *storage.Rx, last int64, limit int) ([]int64, error) {
		return rx.AccountsToCheck(since, last, limit)
	}, func(tx *storage.Tx, ids []int64) error {
		for _, id := range ids {
			args := accountCheckArgs{storage.AboutAccount{Account: id}, true}
			if err := enqueue(tx, storage.NewJob{Kind: kindAccountCheck, Args: args}); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkAccount asks the provider about one account and its templates.
func (w *Workers) checkAccount(ctx context.Context, job storage.Job, args accountCheckArgs) (queue.Commit, error) {
	checked, err := w.Accounts.CheckNumber(ctx, args.Account)
	switch {
	case errors.Is(err, storage.ErrNotFound): // removed meanwhile
		return nil, err
	case provider.IsTransient(err) && !(args.Swept && job.Attempt() >= sweptAttempts):
		return nil, err
	case err != nil:
		w.Log.Warn("could not check an account", "account", args.Account, "error", err)
		return nil, nil // CheckNumber has stored what the error means for the account
	}

	synced, err := w.Accounts.CompareTemplates(ctx, args.Account)
	if err != nil {
		w.Log.Warn("could not read an account's templates", "account", args.Account, "error", err)
		return checked, nil
	}

	return func(tx *storage.Tx) error {
		if err := checked(tx); err != nil {
			return err
		}
		return synced.Store(tx)
	}, nil
}
