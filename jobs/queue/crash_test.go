package queue_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// crash is a process that leases the jobs that are due, and dies: the next one
// frees them. It returns those that it had.
func crash(t *testing.T, db *storage.DB, kind string) (had []storage.Job) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		had, _, err = tx.ClaimDue(kind, 100, time.Minute, func(string) bool { return true })
		return err
	})
	next := queue.New(queue.Options{DB: db, Poll: time.Hour, Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- next.Run(ctx) }()
	synctest.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return had
}

func TestAServerThatIsKilledAgainAndAgainFailsNoJob(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		enqueue(t, db, storage.NewJob{Kind: "k"}, storage.NewJob{Kind: "k"})
		for range 30 {
			crash(t, db, "k")
			time.Sleep(3 * time.Second)
		}
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			return nil, nil
		}}}})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(2))
		is.Equal(len(waiting(t, db)), 0)
	})
}

// The first crash, and the second, may be anybody's: nothing waits for them.
func TestACrashDelaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		enqueue(t, db, storage.NewJob{Kind: "k"})
		for range 3 {
			is.Equal(len(crash(t, db, "k")), 1)
		}
		is.Equal(len(crash(t, db, "k")), 0)
	})
}

// sleepUntilDue sleeps until something is due, and for a second at least.
func sleepUntilDue(t *testing.T, db *storage.DB) {
	first := slices.MinFunc(waiting(t, db), func(a, b storage.Job) int { return cmp.Compare(a.DueAt, b.DueAt) })
	time.Sleep(max(time.Second, first.DueAt.Sub(db.Now())))
}

func TestAJobThatKeepsKillingTheProcessIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		id := enqueue(t, db, storage.NewJob{Kind: "k"})[0]
		crashes := 0
		for range 2000 { // whenever it runs, the process ends
			crashes += len(crash(t, db, "k"))
			if crashes > 10 {
				break
			}
			sleepUntilDue(t, db)
		}
		is.Equal(crashes, 11)
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs.Add(1)
			return nil, nil
		}}}})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(0))
		is.Equal(waiting(t, db)[0].State, storage.JobFailed)

		storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.RetryJobNow(id); return err })
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(1)) // a person may say that it is harmless now
	})
}

// Jobs that had the bad luck to run beside a culprit are done before it is stopped.
func TestACulpritTakesNobodyWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		culprit := enqueue(t, db, storage.NewJob{Kind: "k"})[0]
		for range 20 {
			enqueue(t, db, storage.NewJob{Kind: "k"})
		}
		for began := time.Now(); time.Since(began) < 3000*time.Second; sleepUntilDue(t, db) {
			var due []storage.Job
			storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
				due, _, err = tx.ClaimDue("k", 100, time.Minute, func(string) bool { return true })
				return err
			})
			killed := false
			for _, j := range due {
				killed = killed || j.ID == culprit
			}
			for _, j := range due { // each takes less than a second
				if !killed && j.ID != culprit {
					storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FinishJob(j) })
				}
			}
			if killed {
				crash(t, db, "none")
			}
		}
		left := waiting(t, db)
		is.Equal(len(left), 1)
		is.Equal(left[0].ID, culprit)
		is.True(left[0].Crashes > 10)
	})
}

// A job that was leased ahead has not begun, and is not to blame.
func TestACrashIsNotCountedForWhatHasNotBegun(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		ids := pile(t, db, 5)
		for range 12 {
			storagetest.Update(t, db, func(tx *storage.Tx) error { // all wait in their lane
				_, _, err := tx.ClaimDue("job", 10, time.Minute, func(string) bool { return false })
				return err
			})
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				_, err := tx.ClaimHeld("job", "lane", 10, 1, time.Minute)
				return err
			})
			crash(t, db, "none")
			time.Sleep(time.Hour) // until the first one runs again
		}
		for i, j := range waiting(t, db) {
			is.Equal(j.ID, ids[i])
			is.Equal(j.State, storage.JobDue)
			is.Equal(j.Crashes > 0, i == 0)
		}
	})
}
