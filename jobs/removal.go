package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindUnsubscribe = "unsubscribe_account"
	kindPurge       = "purge_account"

	// purgeLease is enough for tens of millions of rows.
	purgeLease = 12 * time.Hour
	// unsubscribeTries is how often the provider is asked to send nothing more,
	// with growing pauses. What it sends all the same is ignored.
	unsubscribeTries = 6
)

// removedArgs name a removed account. They are not about it: a purge removes the
// jobs that are.
type removedArgs struct {
	storage.AboutNoAccount
	Tombstone int64 `json:"tombstone"`
}

// EnqueuePurge stores the jobs that follow the removal of an account, which
// storage.RemoveAccount has made a tombstone in the same transaction: the
// provider is told to send nothing more, and all that belongs to the account is
// deleted for good.
func EnqueuePurge(tx *storage.Tx, account storage.Account) error {
	for _, kind := range []string{kindUnsubscribe, kindPurge} {
		if _, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: removedArgs{Tombstone: account.ID}}); err != nil {
			return err
		}
	}
	return nil
}

// tombstone reads the removed account that a job is about.
func (w *Workers) tombstone(ctx context.Context, job storage.Job) (t storage.Tombstone, token provider.Token, err error) {
	var args removedArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return t, token, fmt.Errorf("arguments: %w", err)
	}
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if t, err = rx.Tombstone(args.Tombstone); err != nil || !t.HasToken {
			return err
		}
		plain, err := rx.AccessToken(t.Account)
		if err != nil {
			w.Log.Warn("a removed account's token cannot be read", "account", t.PublicID, "error", err)
			return nil
		}
		token = provider.NewToken(plain)
		return nil
	})
	return t, token, err
}

// unsubscribe ends a removed account's callbacks, as far as the provider lets
// us, and then forgets its token. The callbacks of a business account that
// another number of ours has too must go on.
func (w *Workers) unsubscribe(ctx context.Context, job storage.Job) (queue.Commit, error) {
	t, token, err := w.tombstone(ctx, job)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case t.WABAID != nil && !t.Shared && !token.IsZero():
		err = w.Provider.Unsubscribe(ctx, token, *t.WABAID)
	}
	if provider.Transient(err) && job.Attempt() < unsubscribeTries {
		return nil, err
	}
	if err != nil {
		w.Log.Warn("the provider still sends callbacks of a removed account", "account", t.PublicID, "error", err)
	}
	return func(tx *storage.Tx) error { return tx.ForgetSecrets(t.ID) }, nil
}

// purgeAccount deletes all that belongs to a removed account. Its jobs go
// first, because a worker whose job is gone can write nothing more; then its
// messages, because nothing makes an event of what is gone; the events and the
// jobs that would deliver them last.
func (w *Workers) purgeAccount(ctx context.Context, job storage.Job) (queue.Commit, error) {
	t, _, err := w.tombstone(ctx, job)
	if errors.Is(err, storage.ErrNotFound) {
		w.Log.Error("an account that was not removed is not purged", "job", job.ID)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g := newGentle(w.DB)
	rows := func(purge func(*storage.Tx, int64, int) (int64, error)) func() error {
		return func() error {
			return g.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) { return purge(tx, t.ID, limit) })
		}
	}
	jobs := func() error {
		find := func(rx *storage.Rx, after int64) ([]int64, error) { return rx.JobsOfAccount(t.ID, after, g.size) }
		return g.found(ctx, find, (*storage.Tx).PurgeJobs)
	}
	rawCallbacks := func() error {
		find := func(rx *storage.Rx, after int64) ([]int64, error) { return rx.RawCallbacksOfAccount(t, after, g.size) }
		return g.found(ctx, find, (*storage.Tx).PurgeRawCallbacks)
	}
	media := func() error { return w.purgeMedia(ctx, g, t) }
	for _, step := range []func() error{
		jobs, rows((*storage.Tx).PurgeMessages), media, rawCallbacks, jobs, rows((*storage.Tx).PurgeEvents),
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	w.Log.Info("purged a removed account", "account", t.PublicID)
	return nil, nil
}

// purgeMedia deletes an account's media, and after each step the files that
// nobody else has: they must not take the writer's time.
func (w *Workers) purgeMedia(ctx context.Context, g *gentle, t storage.Tombstone) error {
	for {
		var rows, limit int
		var unused []storage.FileUse
		err := g.step(ctx, func(tx *storage.Tx) error {
			limit = g.size
			uses, err := tx.PurgeMedia(t.ID, limit)
			rows, unused = len(uses), nil
			for _, use := range uses {
				used, usedErr := tx.MediaUses(use.SHA256)
				err = errors.Join(err, usedErr)
				if !used {
					unused = append(unused, use)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, use := range unused {
			// A file that is younger than its row was put there anew, by somebody
			// whose row is on the way. Rows count whole milliseconds.
			if err := w.Files.Remove(use.SHA256, use.CreatedAt.Add(time.Millisecond).Std()); err != nil {
				return err
			}
		}
		if rows < limit {
			return nil
		}
	}
}

// found deletes rows that only a long read finds: it looks for them outside of
// the step that deletes them.
func (g *gentle) found(ctx context.Context, find func(rx *storage.Rx, after int64) ([]int64, error), delete func(*storage.Tx, []int64) error) error {
	var after int64
	for {
		var ids []int64
		err := g.db.View(ctx, func(rx *storage.Rx) (err error) {
			ids, err = find(rx, after)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := g.step(ctx, func(tx *storage.Tx) error { return delete(tx, ids) }); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}
