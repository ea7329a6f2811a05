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
	accountSweepBatch = 100
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
	return enqueueAccountCheck(tx, accountCheckArgs{AboutAccount: storage.AboutAccount{Account: account}})
}

func enqueueAccountCheck(tx *storage.Tx, args accountCheckArgs) error {
	_, err := tx.Enqueue(storage.NewJob{Kind: kindAccountCheck, Args: args})
	return err
}

// sweepAccounts enqueues a check of each account that was not checked lately. Each
// is a job of its own, so that errors of one account do not affect the others.
func (w *Workers) sweepAccounts(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	since, last := w.DB.Now().Add(-accountSweepEvery/2), int64(0)
	for {
		ids, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]int64, error) {
			return rx.AccountsToCheck(since, last, accountSweepBatch)
		})
		if err != nil || len(ids) == 0 {
			return nil, err
		}

		last = ids[len(ids)-1]
		err = w.DB.Update(ctx, func(tx *storage.Tx) error {
			for _, id := range ids {
				if err := enqueueAccountCheck(tx, accountCheckArgs{storage.AboutAccount{Account: id}, true}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
}

// checkAccount asks the provider about one account and its templates.
func (w *Workers) checkAccount(ctx context.Context, job storage.Job, args accountCheckArgs) (queue.Commit, error) {
	checked, err := w.Accounts.CheckNumber(ctx, args.Account)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil // removed meanwhile
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
