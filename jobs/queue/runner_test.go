package queue_test

import (
	"context"
	"errors"
	"log/slog"
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

// start runs a runner until the test ends, or until the returned stop is called.
func start(t testing.TB, db *storage.DB, o queue.Options) (r *queue.Runner, stop func()) {
	t.Helper()
	o.DB = db
	if o.Workers == 0 {
		o.Workers = 16
	}
	if o.Poll == 0 {
		o.Poll = 10 * time.Second // to look each second takes most of the time of tests that last for hours
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r = queue.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("runner: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return r, stop
}

func enqueue(t testing.TB, db *storage.DB, jobs ...storage.NewJob) (ids []int64) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		ids = ids[:0]
		for _, j := range jobs {
			if j.Args == nil {
				j.Args = storage.AboutNoAccount{}
			}
			id, err := tx.Enqueue(j)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

func waiting(t testing.TB, db *storage.DB) (all []storage.Job) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		all, err = rx.Jobs(storage.JobFilter{Limit: 1000})
		return err
	})
	return all
}

// bubble runs a test under a virtual clock with a database opened inside of it.
func bubble(t *testing.T, test func(t *testing.T, is *is.I, db *storage.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, is.New(t), storagetest.Open(t))
	})
}

func TestHandlersDelaysAreKept(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		ladder := []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}
		began := time.Now()
		var ran []time.Duration
		var attempts []int
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "send", Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
			ran = append(ran, time.Since(began).Round(time.Second))
			attempts = append(attempts, j.Attempt())
			if j.Attempt() > len(ladder) {
				return nil, nil
			}
			return nil, queue.RetryAfter(ladder[j.Attempt()-1], errors.New("provider is down"))
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "send"})
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		is.Equal(ran, []time.Duration{0, time.Minute, 3 * time.Minute, 7 * time.Minute, 15 * time.Minute})
		is.Equal(attempts, []int{1, 2, 3, 4, 5})
		is.Equal(len(waiting(t, db)), 0) // done jobs are gone
	})
}

func TestAPostponedRunCountsForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		began := time.Now()
		var ran []time.Duration
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Attempts: 1, Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
			ran = append(ran, time.Since(began).Round(time.Second))
			is.Equal(j.Attempt(), 1)
			if len(ran) < 4 {
				return nil, queue.Postpone(10 * time.Second)
			}
			return nil, nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(ran, []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second})
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestAJobThatKeepsFailingIsKeptForAPerson(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Attempts: 3, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			return nil, errors.New("no luck")
		}}}})
		id := enqueue(t, db, storage.NewJob{Kind: "k"})[0]
		time.Sleep(time.Hour)
		left := waiting(t, db)
		is.Equal(len(left), 1)
		is.Equal(left[0].State, storage.JobFailed)
		is.Equal(*left[0].LastError, "no luck")
		is.Equal(runs.Load(), int32(3))

		storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.RetryJobNow(id); return err })
		synctest.Wait()
		is.Equal(runs.Load(), int32(4)) // a person's retry runs at once
	})
}

func TestAPanickingHandlerFailsItsJobOnly(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var good atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{
			{Name: "bad", Attempts: 1, Handle: func(context.Context, storage.Job) (queue.Commit, error) { panic("boom") }},
			{Name: "good", Handle: func(context.Context, storage.Job) (queue.Commit, error) { good.Add(1); return nil, nil }},
		}})
		enqueue(t, db, storage.NewJob{Kind: "bad"}, storage.NewJob{Kind: "good"})
		time.Sleep(time.Second)
		left := waiting(t, db)
		is.Equal(len(left), 1)
		is.Equal(*left[0].LastError, "panic: boom")
		is.Equal(good.Load(), int32(1))
	})
}

func TestResultsAndTheJobsEndCommitTogether(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		tenant := storagetest.Seed(t, db, "Acme")
		fail := true
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			return func(tx *storage.Tx) error {
				team := storage.Team{OrganizationID: tenant.Organization.ID, Name: "made by a job"}
				if err := tx.InsertTeam(&team); err != nil {
					return err
				}
				if fail {
					fail = false
					return errors.New("changed my mind")
				}
				return nil
			}, nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Minute)
		var teams []storage.Team
		storagetest.View(t, db, func(rx *storage.Rx) (err error) { teams, err = rx.Teams(tenant.Organization.ID); return err })
		is.Equal(len(teams), 2) // the default one, and one from the second run: the first left nothing
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestACancelledJobWritesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var cancelled, committed atomic.Bool
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			<-ctx.Done()
			cancelled.Store(true)
			return func(*storage.Tx) error { committed.Store(true); return nil }, nil
		}}}})
		id := enqueue(t, db, storage.NewJob{Kind: "k"})[0]
		synctest.Wait()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.CancelJob(id) })
		r.Cancel(id)
		synctest.Wait()
		is.True(cancelled.Load())
		is.True(!committed.Load())
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestAStopLetsJobsFinishAndReleasesTheRest(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		_, stop := start(t, db, queue.Options{Grace: 10 * time.Second, Kinds: []queue.Kind{{Name: "k", Handle: func(ctx context.Context, j storage.Job) (queue.Commit, error) {
			if string(j.Args) == `"short"` {
				time.Sleep(5 * time.Second)
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}}})
		synctest.Wait()
		enqueue(t, db, storage.NewJob{Kind: "k", Args: storagetest.Args("short")}, storage.NewJob{Kind: "k", Args: storagetest.Args("long")})
		began := time.Now()
		stop()
		is.Equal(time.Since(began), 10*time.Second)
		left := waiting(t, db)
		is.Equal(len(left), 1)
		is.Equal(string(left[0].Args), `"long"`)
		is.Equal(left[0].State, storage.JobDue)
		is.Equal(left[0].Failures, 0) // being stopped is no failure
	})
}

func TestANewRunnerTakesOverWhatADeadOneHad(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		ids := enqueue(t, db, storage.NewJob{Kind: "k"}, storage.NewJob{Kind: "k"})
		storagetest.Update(t, db, func(tx *storage.Tx) error { // a process leased both, then died
			_, _, err := tx.ClaimDue("k", 2, time.Minute, func(string) bool { return true })
			return err
		})
		var ran sync.Map
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
			ran.Store(j.ID, j.Attempt())
			return nil, nil
		}}}})
		synctest.Wait()
		for _, id := range ids {
			attempt, ok := ran.Load(id)
			is.True(ok)
			is.Equal(attempt, 1) // a crash is no failed attempt
		}
	})
}

func TestPeriodicJobsRunByTheClockAcrossRestarts(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		kinds := []queue.Kind{{Name: "hourly", Every: time.Hour, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			return nil, nil
		}}}
		_, stop := start(t, db, queue.Options{Kinds: kinds})
		time.Sleep(150 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(3)) // at once, after one hour, after two
		stop()
		start(t, db, queue.Options{Kinds: kinds})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(3)) // a restart does not run it again
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(4))
	})
}

func TestAPeriodicJobThatTakesLongerThanItsPeriodIsNotPiledUp(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var running, most, runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "slow", Every: time.Minute, Lease: time.Hour, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(150 * time.Second)
			running.Add(-1)
			return nil, nil
		}}}})
		time.Sleep(14*time.Minute + 50*time.Second)
		synctest.Wait()
		is.Equal(most.Load(), int32(1))
		is.Equal(runs.Load(), int32(5)) // each third tick: two are left out while one runs
		is.True(len(waiting(t, db)) <= 1)
	})
}

func TestAKindLeavesWorkersToOthers(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var quick atomic.Int32
		start(t, db, queue.Options{Workers: 4, Kinds: []queue.Kind{
			{Name: "quick", Handle: func(context.Context, storage.Job) (queue.Commit, error) { quick.Add(1); return nil, nil }},
			{Name: "slow", Workers: 3, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
				time.Sleep(30 * time.Second)
				return nil, nil
			}},
		}})
		for range 20 {
			enqueue(t, db, storage.NewJob{Kind: "slow"})
		}
		enqueue(t, db, storage.NewJob{Kind: "quick"})
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(quick.Load(), int32(1))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		is.Equal(len(waiting(t, db)), 0) // the slow ones all ran
	})
}

func TestJobsEnqueuedInAFailedTransactionDoNotExist(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		start(t, db, queue.Options{Workers: 1, Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			return nil, nil
		}}}})
		synctest.Wait()
		for range 3 {
			err := db.Update(context.Background(), func(tx *storage.Tx) error {
				if _, err := tx.Enqueue(storage.NewJob{Kind: "k", Args: storagetest.Args(1)}); err != nil {
					return err
				}
				return errors.New("undo")
			})
			is.Equal(err.Error(), "undo")
		}
		enqueue(t, db, storage.NewJob{Kind: "k"})
		synctest.Wait()
		is.Equal(runs.Load(), int32(1)) // and the only worker was not lost to the undone ones
	})
}

func TestARunnerThatIsStoppedBeforeItBeginsEndsWell(t *testing.T) {
	is := is.New(t)
	r := queue.New(queue.Options{DB: storagetest.Open(t), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	is.NoErr(r.Run(ctx))
}
