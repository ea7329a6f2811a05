package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// running lists the ids of the leased jobs.
func running(t *testing.T, db *storage.DB) (ids []int64) {
	t.Helper()
	for _, j := range view(t, db, func(rx *storage.Rx) ([]storage.RunningJob, error) { return rx.RunningJobs() }) {
		ids = append(ids, j.ID)
	}
	return ids
}

func TestRunningJobsCanBeFreed(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	all := enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "deliver"})
	claim(t, db, "send", 10)
	is.Equal(running(t, db), all[:2])
	var were []bool
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		were = nil
		for _, j := range []storage.RunningJob{{ID: all[0], Runs: 1}, {ID: all[1], Runs: 2}, {ID: all[2]}, {ID: 99}} {
			freed, fault := tx.FreeJob(j, 7, 0)
			were, err = append(were, freed), errors.Join(err, fault)
		}
		return err
	})
	is.Equal(were, []bool{true, false, false, false}) // what does not run, or runs again, stays as it is
	j := job(t, db, all[0])
	is.Equal(j.State, storage.JobDue)
	is.Equal([]int{j.Runs, j.Failures, j.Crashes}, []int{1, 0, 7}) // a crash counts for no failure
	is.Equal(j.LeasedUntil, storage.Time(0))
	is.True(j.CallBegunAt != 0)
	is.Equal(running(t, db), all[1:2])

	later := storage.Now().Add(time.Hour)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		_, err := tx.FreeJob(storage.RunningJob{ID: all[1], Runs: 1}, 8, later)
		return err
	})
	is.Equal(job(t, db, all[1]).DueAt, later)
}

func TestRunningJobsAreFoundInSteps(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	var all []int64
	for _, kind := range []string{"send", "deliver", "deliver", "send", "send", "deliver", "send"} {
		all = append(all, enqueue(t, db, storage.NewJob{Kind: kind})...)
	}
	claim(t, db, "send", 10)
	for _, limit := range []int{1, 2, 3, 7, 8} {
		var found []int64
		last := int64(0)
		for {
			storagetest.View(t, db, func(rx *storage.Rx) error {
				step, next, err := rx.RunningJobsAmong(last, limit)
				for _, j := range step {
					found = append(found, j.ID)
				}
				last = next
				return err
			})
			if last == 0 {
				break
			}
		}
		is.Equal(found, []int64{all[0], all[3], all[4], all[6]})
	}
}

func TestHeldLanesAreListedOnce(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	enqueue(t, db, storage.NewJob{Kind: "send", Lane: "full"}, storage.NewJob{Kind: "send", Lane: "full"}, storage.NewJob{Kind: "send", Lane: "free"})
	claim(t, db, "send", 10)
	lanes := view(t, db, func(rx *storage.Rx) ([]storage.HeldLane, error) { return rx.HeldLanes() })
	is.Equal(lanes, []storage.HeldLane{{Lane: "full", Kind: "send"}})
}

func TestNextDueIsTheEarliestOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		next := func(kind string) storage.Time {
			return view(t, db, func(rx *storage.Rx) (storage.Time, error) { return rx.NextDue(kind) })
		}
		now := storage.Now()
		is.Equal(next("send"), storage.Time(0))
		enqueue(t, db,
			storage.NewJob{Kind: "send", DueAt: now.Add(2 * time.Minute)},
			storage.NewJob{Kind: "send", DueAt: now.Add(time.Minute)},
			storage.NewJob{Kind: "deliver", DueAt: now.Add(time.Second)})
		is.Equal(next("send"), now.Add(time.Minute))
		time.Sleep(time.Minute)
		claim(t, db, "send", 10)
		is.Equal(next("send"), now.Add(2*time.Minute)) // what runs waits no more
	})
}

func TestPeriodicJobIsNotPiledUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ran := func() storage.Time {
			return view(t, db, func(rx *storage.Rx) (storage.Time, error) { return rx.PeriodicRun("purge") })
		}
		count := func() int {
			return len(view(t, db, func(rx *storage.Rx) ([]storage.Job, error) {
				return rx.Jobs(storage.JobFilter{Kind: "purge", Limit: 9})
			}))
		}
		tick := func() { storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.EnqueuePeriodic("purge") }) }
		is.Equal(ran(), storage.Time(0))
		tick()
		is.Equal(ran(), storage.Now())
		time.Sleep(time.Hour)
		tick()
		is.Equal(ran(), storage.Now())
		is.Equal(count(), 1) // the last one is still there

		claimed, _ := claim(t, db, "purge", 1)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FailJob(claimed[0], "e") })
		tick()
		is.Equal(count(), 2) // a failed one blocks nothing
	})
}

func TestJobsAreFilteredAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		now := storage.Now()
		all := enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send", DueAt: now.Add(time.Hour)},
			storage.NewJob{Kind: "send", DueAt: now.Add(time.Minute)}, storage.NewJob{Kind: "deliver"})
		claim(t, db, "send", 1)
		list := func(f storage.JobFilter) []int64 {
			return ids(view(t, db, func(rx *storage.Rx) ([]storage.Job, error) { return rx.Jobs(f) }))
		}
		is.Equal(list(storage.JobFilter{Limit: 100}), all)
		is.Equal(list(storage.JobFilter{Limit: 2}), all[:2])
		is.Equal(list(storage.JobFilter{Kind: "send", Limit: 100}), all[:3])
		is.Equal(list(storage.JobFilter{State: storage.JobDue, Limit: 100}), all[1:])
		is.Equal(list(storage.JobFilter{Kind: "send", State: storage.JobRunning, Limit: 100}), all[:1])

		counts := view(t, db, func(rx *storage.Rx) ([]storage.JobCount, error) { return rx.JobCounts() })
		is.Equal(counts, []storage.JobCount{
			{Kind: "deliver", State: storage.JobDue, Count: 1, Oldest: now},
			{Kind: "send", State: storage.JobDue, Count: 2, Oldest: now.Add(time.Minute)},
			{Kind: "send", State: storage.JobRunning, Count: 1, Oldest: now},
		})
	})
}

func TestJobIsRetriedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		all := enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send", Lane: "full"})
		claimed, _ := claim(t, db, "send", 10)
		retry := func(id int64) storage.Job {
			return update(t, db, func(tx *storage.Tx) (storage.Job, error) { return tx.RetryJobNow(id) })
		}
		is.Equal(retry(all[0]).State, storage.JobRunning) // runs, or will: left alone
		is.Equal(retry(all[1]).State, storage.JobHeld)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FailJob(claimed[0], "e") })
		time.Sleep(time.Hour)
		r := &runner{}
		db.SetDispatcher(r)
		is.Equal(retry(all[0]), job(t, db, all[0]))
		is.Equal(job(t, db, all[0]).State, storage.JobDue)
		is.Equal(job(t, db, all[0]).DueAt, storage.Now())
		is.Equal(r.heard, []string{"stored send in 0s"})
		err := db.Update(context.Background(), func(tx *storage.Tx) error { _, err := tx.RetryJobNow(99); return err })
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

func TestJobIsCancelledInAnyState(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	all := enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send", Lane: "full"}, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "deliver"})
	claimed, _ := claim(t, db, "send", 10)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FailJob(claimed[1], "e") })
	for _, id := range all {
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.CancelJob(id) })
	}
	is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.Job, error) { return rx.Jobs(storage.JobFilter{Limit: 9}) })), 0)
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.CancelJob(all[0]) })
	is.True(errors.Is(err, storage.ErrNotFound))
}
