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

	// accountChecks is how many run at once: few, because no request waits for them.
	accountChecks = 4
	// sweptAttempts is how often a check of the sweep is tried, before the next sweep.
	sweptAttempts = 3
)

type accountCheckArgs struct {
	storage.AboutAccount
	Swept bool `json:"swept,omitempty"` // made by the sweep: another one follows within the hour
}

// EnqueueAccountCheck stores the job that asks the provider about an account and its templates.
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

func (w *Workers) checkAccount(ctx context.Context, job storage.Job, args accountCheckArgs) (queue.Commit, error) {
	if args.Swept { // it may have been disconnected since
		a, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.AccountDetail, error) { return rx.AccountDetail(args.Account) })
		if err != nil || a.Status == storage.AccountDisconnected {
			return nil, err
		}
	}
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

	if _, err := w.Accounts.SyncTemplates(ctx, args.Account); err != nil {
		w.Log.Warn("could not read an account's templates", "account", args.Account, "error", err)
	}
	return checked, nil
}

const (
	kindUnsubscribe = "account.unsubscribe"
	kindPurge       = "account.purge"

	// purgeLease is enough for tens of millions of rows.
	purgeLease = 12 * time.Hour
	// unsubscribeTries is how often the provider is asked to send no more
	// callbacks, with growing pauses. Those that it still sends are ignored.
	unsubscribeTries = 6
)

// removedArgs name a removed account, and are not about it: a purge removes the jobs that are.
type removedArgs struct {
	storage.AboutNoAccount
	Tombstone int64 `json:"tombstone"`
}

// EnqueueAccountRemoval stores the jobs that follow the removal of an account, which
// storage.RemoveAccount has made a tombstone in the same transaction: one ends its
// callbacks at the provider, the other deletes all that belongs to it.
func EnqueueAccountRemoval(tx *storage.Tx, account storage.Account) error {
	for _, kind := range []string{kindUnsubscribe, kindPurge} {
		if err := enqueue(tx, storage.NewJob{Kind: kind, Args: removedArgs{Tombstone: account.ID}}); err != nil {
			return err
		}
	}
	return nil
}

// loadTombstone reads the removed account of a job, and its token if that can still be read.
func (w *Workers) loadTombstone(ctx context.Context, args removedArgs) (t storage.Tombstone, token provider.Token, err error) {
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if t, err = rx.Tombstone(args.Tombstone); err != nil || !t.HasToken {
			return err
		}

		plain, err := rx.AccessToken(t.Account)
		if err != nil {
			w.Log.Warn("could not read a removed account's token", "account", t.PublicID, "error", err)
			return nil
		}

		token = provider.NewToken(plain)
		return nil
	})
	return t, token, err
}

// unsubscribe ends a removed account's callbacks at the provider and then deletes
// its token, even if the provider refused. It leaves the callbacks of a business
// account alone that another of our numbers belongs to.
func (w *Workers) unsubscribe(ctx context.Context, job storage.Job, args removedArgs) (queue.Commit, error) {
	t, token, err := w.loadTombstone(ctx, args)
	if err != nil {
		return nil, err
	}
	if t.WABAID != nil && !t.Shared && !token.IsZero() {
		err = w.Provider.Unsubscribe(ctx, token, *t.WABAID)
	}

	if provider.IsTransient(err) && job.Attempt() < unsubscribeTries {
		return nil, err
	}
	if err != nil {
		w.Log.Warn("the provider still sends callbacks for a removed account", "account", t.PublicID, "error", err)
	}

	return func(tx *storage.Tx) error { return tx.ForgetSecrets(t.ID) }, nil
}

// purgeAccount deletes all that belongs to a removed account. Jobs go first,
// because a worker whose job is gone can write nothing more. Then messages, so
// that no new events are made of them. Events go last, together with the jobs
// that deliver them.
func (w *Workers) purgeAccount(ctx context.Context, job storage.Job, args removedArgs) (queue.Commit, error) {
	t, _, err := w.loadTombstone(ctx, args)
	if errors.Is(err, storage.ErrNotFound) {
		w.Log.Error("skipped the purge of an account that was not removed", "job", job.ID)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	// Each step is a function, so that the order below reads as a list.
	b := newBatchWriter(w.DB)
	rows := func(purge func(*storage.Tx, int64, int) (int64, error)) func() error {
		return func() error {
			return b.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) { return purge(tx, t.ID, limit) })
		}
	}
	jobs := func() error {
		find := func(rx *storage.Rx, after int64, limit int) ([]int64, error) {
			return rx.JobsOfAccount(t.ID, after, limit)
		}
		return walk(ctx, b, find, (*storage.Tx).PurgeJobs)
	}
	rawCallbacks := func() error {
		find := func(rx *storage.Rx, after int64, limit int) ([]int64, error) {
			return rx.RawCallbacksOfAccount(t, after, limit)
		}
		return walk(ctx, b, find, (*storage.Tx).PurgeRawCallbacks)
	}
	media := func() error { return w.purgeMedia(ctx, t) }
	bodies := func() error { return DeleteLoggedBodies(ctx, w.DB, t.ID) }

	for _, step := range []func() error{
		jobs, rows((*storage.Tx).PurgeMessages), media, rawCallbacks, jobs, rows((*storage.Tx).PurgeEvents), bodies,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}

	w.Log.Info("purged a removed account", "account", t.PublicID)
	return nil, nil
}

// purgeMedia deletes an account's media. The files that no other account uses are
// removed after each step, so that they do not take the writer's time.
func (w *Workers) purgeMedia(ctx context.Context, t storage.Tombstone) error {
	var unused []storage.FileUse
	b := newBatchWriter(w.DB)
	b.afterStep = func() {
		// A file that is younger than the deleted row was stored again by somebody
		// whose row will follow, so it stays. Rows count whole milliseconds.
		for _, use := range unused {
			w.removeFile(use.SHA256, use.CreatedAt.Add(time.Millisecond).Std())
		}
		unused = nil
	}

	return b.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		uses, err := tx.PurgeMedia(t.ID, limit)
		for _, use := range uses {
			last, markErr := w.markUnused(tx, use.SHA256)
			err = errors.Join(err, markErr)
			if last {
				tx.AfterCommit(func() { unused = append(unused, use) })
			}
		}
		return int64(len(uses)), err
	})
}
