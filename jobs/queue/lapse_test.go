package queue_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// steppedClock is a runner whose jobs were leased before the wall clock was set
// forward: the end of their lease has passed when they start.
type steppedClock struct {
	*queue.Runner
	step time.Duration
}

func (s steppedClock) Start(j storage.Job) {
	j.LeasedUntil = j.LeasedUntil.Add(-s.step)
	s.Runner.Start(j)
}

func TestSettingTheClockEndsNoLease(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": 11 * time.Minute, "back": -11 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
				var runs, ended atomic.Int32
				runner, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Lease: 10 * time.Minute, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
					runs.Add(1)
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
						ended.Add(1)
						return nil, ctx.Err()
					}
					return nil, nil
				}}}})
				synctest.Wait()
				db.SetDispatcher(steppedClock{runner, step})
				enqueue(t, db, storage.NewJob{Kind: "k"})
				time.Sleep(time.Hour)
				synctest.Wait()
				is.Equal(runs.Load(), int32(1))
				is.Equal(ended.Load(), int32(0))
				is.Equal(len(waiting(t, db)), 0)
			})
		})
	}
}

// A handler whose lease ends may just have received its answer.
func TestWhatAHandlerReturnsAtTheEndOfItsLeaseIsWritten(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Lease: 10 * time.Second, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			runs.Add(1)
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			return note(tenant, "answer"), nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(1))
		is.Equal(notes(t, db, tenant), []string{"answer"})
		is.Equal(len(waiting(t, db)), 0)
	})
}

// deaf starts a runner whose first run hears nothing until it is let go, with a
// lease of ten seconds.
func deaf(t *testing.T, db *storage.DB, tenant storagetest.Tenant) (runs *atomic.Int32, letGo func()) {
	runs = new(atomic.Int32)
	held := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(held) })
	start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Lease: 10 * time.Second, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
		if runs.Add(1) == 1 {
			<-held
			return note(tenant, "first"), nil
		}
		return note(tenant, "second"), nil
	}}}})
	t.Cleanup(letGo)
	synctest.Wait()
	return runs, letGo
}

func TestARunThatOutlastsItsLeaseCountsAndMayHaveHadItsEffect(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		runs, letGo := deaf(t, db, tenant)
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		is.Equal(waiting(t, db)[0].State, storage.JobRunning) // it may still return

		time.Sleep(40 * time.Second)
		synctest.Wait()
		j := waiting(t, db)[0]
		is.Equal(j.State, storage.JobDue)
		is.Equal(j.Failures, 1)
		is.True(j.CallBegunAt != 0)
		is.Equal(*j.LastError, "the job's lease is over")

		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(2))
		letGo()
		time.Sleep(time.Minute)
		is.Equal(notes(t, db, tenant), []string{"second"}) // another run had the job
	})
}

func TestALateSuccessIsWrittenIfNobodyElseHasHadTheJob(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		runs, letGo := deaf(t, db, tenant)
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(50 * time.Second)
		synctest.Wait()
		is.Equal(runs.Load(), int32(1))
		letGo()
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(1))
		is.Equal(notes(t, db, tenant), []string{"first"})
		is.Equal(len(waiting(t, db)), 0)
	})
}

// Postpone says that a run has had no effect. That it took too long counts all
// the same, or a job that always takes too long would run for ever.
func TestAPostponedRunThatOutlastedItsLeaseCounts(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Attempts: 3, Lease: 10 * time.Second, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			runs.Add(1)
			<-ctx.Done()
			return nil, queue.Postpone(0)
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(3))
		is.Equal(waiting(t, db)[0].State, storage.JobFailed)
		is.Equal(waiting(t, db)[0].CallBegunAt, storage.Time(0))
	})
}

func TestAnErrorAtTheEndOfTheLeaseIsNotAStop(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Attempts: 1, Lease: 10 * time.Second, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			<-ctx.Done()
			return nil, errors.New("cut off")
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(waiting(t, db)[0].State, storage.JobFailed)
		is.Equal(*waiting(t, db)[0].LastError, "cut off")
	})
}
