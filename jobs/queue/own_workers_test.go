package queue_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestAKindWithWorkersOfItsOwnNeitherTakesNorLacksAny(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var hanging, other handlerCount
		start(t, db, queue.Options{Workers: 2, Kinds: []queue.Kind{
			{Name: "hanging", Workers: 10, Reserved: 10, Handle: hanging.handle(10 * time.Second)},
			{Name: "other", Handle: other.handle(time.Second)},
		}})
		for range 12 {
			enqueue(t, db, storage.NewJob{Kind: "hanging"})
		}
		for range 4 {
			enqueue(t, db, storage.NewJob{Kind: "other"})
		}
		time.Sleep(3 * time.Second)
		_, most, done := other.counts()
		is.Equal(done, 4) // two at a time
		is.Equal(most, 2)
		now, _, _ := hanging.counts()
		is.Equal(now, 10)
		time.Sleep(time.Minute)
		_, most, done = hanging.counts()
		is.Equal(done, 12)
		is.Equal(most, 10)
	})
}

// counts says how many run now, ran at once at most, and are done.
func (c *handlerCount) counts() (now, most, done int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, c.most, c.done
}

// note stores a row that shows whether a transaction happened.
func note(tenant storagetest.Tenant, name string) queue.Commit {
	return func(tx *storage.Tx) error {
		return tx.InsertLabel(&storage.Label{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: name, Color: "gray"})
	}
}

func notes(t *testing.T, db *storage.DB, tenant storagetest.Tenant) (names []string) {
	t.Helper()
	var all []storage.Label
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		all, err = rx.Labels(tenant.Organization.ID, nil, storage.First, 10)
		return err
	})
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

func TestWhatAFailedRunHasToWriteIsWrittenWithItsRetry(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		var runs atomic.Int64
		start(t, db, queue.Options{Workers: 2, Kinds: []queue.Kind{{Name: "job", Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
			if runs.Add(1) == 1 {
				return note(tenant, "first"), queue.RetryAfter(time.Minute, errors.New("not yet"))
			}
			is.Equal(j.Attempt(), 2)
			return note(tenant, "second"), nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "job"})
		synctest.Wait()
		is.Equal(notes(t, db, tenant), []string{"first"})
		time.Sleep(59 * time.Second)
		synctest.Wait()
		is.Equal(runs.Load(), int64(1))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		is.Equal(notes(t, db, tenant), []string{"second", "first"})
	})
}

func TestAFailedRunWhoseResultsCannotBeWrittenIsRetriedAllTheSame(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		var runs atomic.Int64
		start(t, db, queue.Options{Workers: 2, Kinds: []queue.Kind{{Name: "job", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			if runs.Add(1) == 1 {
				return func(tx *storage.Tx) error {
					return errors.Join(note(tenant, "half")(tx), errors.New("cannot be written"))
				}, queue.RetryAfter(time.Hour, errors.New("not yet"))
			}
			return note(tenant, "whole"), nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "job"})
		time.Sleep(time.Minute) // by the queue's own backoff
		synctest.Wait()
		is.Equal(notes(t, db, tenant), []string{"whole"})
	})
}

// A run that knows how it failed says so even when the process is stopping.
func TestAStopDoesNotSwallowAFailureThatIsWrittenDown(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		_, stop := start(t, db, queue.Options{Workers: 2, Kinds: []queue.Kind{{Name: "job", Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			<-ctx.Done()
			return note(tenant, "known"), queue.RetryAfter(time.Minute, errors.New("failed"))
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "job"})
		synctest.Wait()
		stop()
		is.Equal(notes(t, db, tenant), []string{"known"})
	})
}
