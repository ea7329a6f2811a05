package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func enqueue(t *testing.T, db *storage.DB, jobs ...storage.NewJob) (ids []int64) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		ids = nil
		for _, n := range jobs {
			id, err := tx.Enqueue(n)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

func job(t *testing.T, db *storage.DB, id int64) storage.Job {
	t.Helper()
	return view(t, db, func(rx *storage.Rx) (storage.Job, error) { return rx.Job(id) })
}

// claim leases jobs of a kind for a minute; those of the lane "full" become held.
func claim(t *testing.T, db *storage.DB, kind string, limit int) (claimed, held []storage.Job) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		claimed, held, err = tx.ClaimDue(kind, limit, time.Minute, func(lane string) bool { return lane != "full" })
		return err
	})
	return claimed, held
}

func ids(jobs []storage.Job) (all []int64) {
	for _, j := range jobs {
		all = append(all, j.ID)
	}
	return all
}

func TestJobWaitsWhereThereIsNoRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		now := storage.Now()
		got := enqueue(t, db,
			storage.NewJob{Kind: "send", Lane: "a", Args: storagetest.Args(map[string]int{"n": 1})},
			storage.NewJob{Kind: "send", Args: nil, DueAt: now.Add(time.Hour)},
			storage.NewJob{Kind: "send", Args: storagetest.Args("x"), DueAt: now.Add(-time.Hour)})
		is.Equal(job(t, db, got[0]), storage.Job{ID: got[0], Kind: "send", Lane: "a", Args: storage.JSON(`{"n":1}`),
			State: storage.JobDue, DueAt: now, CreatedAt: now})
		is.Equal(job(t, db, got[1]).DueAt, now.Add(time.Hour))
		is.Equal(job(t, db, got[2]).DueAt, now) // what was due long ago is due now
		is.Equal(job(t, db, got[0]).Attempt(), 1)
	})
}

func TestJobWithArgumentsThatAreNoJSONIsRefused(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: "send", Args: storagetest.Args(func() {})})
		return err
	})
	is.True(err != nil)
}

// runner records what storage reports to it.
type runner struct {
	admission storage.Admission
	turn      time.Duration // for which AdmitLater waits
	busy      string        // the lane that is
	unsettled string        // the lane whose last run is
	heard     []string
	started   []storage.Job
}

func (r *runner) Admit(j storage.Job) (storage.Admission, time.Duration) {
	r.heard = append(r.heard, "admit "+j.Kind+" "+j.Lane)
	if r.admission == storage.AdmitLater {
		return r.admission, r.turn
	}
	return r.admission, time.Minute
}

func (r *runner) Start(j storage.Job) {
	r.heard = append(r.heard, fmt.Sprintf("start %d", j.ID))
	r.started = append(r.started, j)
}

func (r *runner) Busy(_, lane string) bool { return lane == r.busy }

func (r *runner) Unsettled(_, lane string, _ int64) bool { return lane == r.unsettled }

func (r *runner) Withdraw(kind, lane string) { r.heard = append(r.heard, "withdraw "+kind+" "+lane) }

func (r *runner) Wait(j storage.Job) { r.heard = append(r.heard, fmt.Sprintf("wait %d", j.ID)) }

func (r *runner) Look() { r.heard = append(r.heard, "look") }

func (r *runner) Stored(kind string, due storage.Time) {
	r.heard = append(r.heard, fmt.Sprintf("stored %s in %v", kind, due.Sub(storage.Now())))
}

func TestJobIsHandedToTheRunnerAfterTheCommit(t *testing.T) {
	for name, c := range map[string]struct {
		admission storage.Admission
		delay     time.Duration
		turn      time.Duration
		fails     bool
		state     string
		heard     []string
	}{
		"now":               {storage.AdmitNow, 0, 0, false, storage.JobRunning, []string{"admit send a", "written", "start 1"}},
		"held":              {storage.AdmitHeld, 0, 0, false, storage.JobHeld, []string{"admit send a", "written", "wait 1"}},
		"in its turn":       {storage.AdmitLater, 0, time.Minute, false, storage.JobDue, []string{"admit send a", "written", "stored send in 1m0s"}},
		"later":             {storage.AdmitLater, 0, 0, false, storage.JobDue, []string{"admit send a", "written", "wait 1"}},
		"not due yet":       {storage.AdmitNow, time.Hour, 0, false, storage.JobDue, []string{"written", "stored send in 1h0m0s"}},
		"now, but undone":   {storage.AdmitNow, 0, 0, true, "", []string{"admit send a", "written", "withdraw send a", "admit send a", "written", "withdraw send a"}},
		"later, but undone": {storage.AdmitLater, 0, 0, true, "", []string{"admit send a", "written", "admit send a", "written"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				db := open(t, newFile(t))
				r := &runner{admission: c.admission, turn: c.turn}
				db.SetDispatcher(r)
				oops := errors.New("oops")
				err := db.Update(context.Background(), func(tx *storage.Tx) error {
					_, err := tx.Enqueue(storage.NewJob{Kind: "send", Lane: "a", DueAt: tx.Now.Add(c.delay)})
					r.heard = append(r.heard, "written")
					if err == nil && c.fails {
						err = oops
					}
					return err
				})
				is.Equal(r.heard, c.heard)
				stored := view(t, db, func(rx *storage.Rx) ([]storage.Job, error) { return rx.Jobs(storage.JobFilter{Limit: 9}) })
				if c.fails {
					is.Equal(err, oops)
					is.Equal(len(stored), 0)
					return
				}
				is.NoErr(err)
				is.Equal(len(stored), 1)
				is.Equal(stored[0].State, c.state)
				if c.state == storage.JobRunning {
					is.Equal(r.started, stored) // it starts with the stored row
					is.Equal(stored[0].Runs, 1)
					is.Equal(stored[0].LeasedUntil, storage.Now().Add(time.Minute))
				}
			})
		})
	}
}

func TestJobsAreClaimedOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		now := storage.Now()
		all := enqueue(t, db,
			storage.NewJob{Kind: "send", DueAt: now.Add(3 * time.Second)},
			storage.NewJob{Kind: "send", DueAt: now.Add(time.Second)},
			storage.NewJob{Kind: "send", DueAt: now.Add(time.Second)},
			storage.NewJob{Kind: "send", DueAt: now.Add(time.Hour)},
			storage.NewJob{Kind: "deliver"})
		time.Sleep(3 * time.Second)
		claimed, held := claim(t, db, "send", 2)
		is.Equal(ids(claimed), []int64{all[1], all[2]})
		is.Equal(len(held), 0)
		for _, j := range claimed {
			is.Equal(job(t, db, j.ID), j)
			is.Equal(j.State, storage.JobRunning)
			is.Equal(j.Runs, 1)
			is.Equal(j.LeasedUntil, storage.Now().Add(time.Minute))
		}
		claimed, _ = claim(t, db, "send", 10)
		is.Equal(ids(claimed), []int64{all[0]}) // neither the claimed ones nor those not due
		claimed, _ = claim(t, db, "send", 10)
		is.Equal(len(claimed), 0)
	})
}

func TestJobsOfAFullLaneAreHeldAndClaimedByLane(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	all := enqueue(t, db,
		storage.NewJob{Kind: "send", Lane: "full"},
		storage.NewJob{Kind: "send", Lane: "free"},
		storage.NewJob{Kind: "send", Lane: "full"},
		storage.NewJob{Kind: "send", Lane: "full"})
	claimed, held := claim(t, db, "send", 10)
	is.Equal(ids(claimed), []int64{all[1]})
	is.Equal(ids(held), []int64{all[0], all[2], all[3]})
	is.Equal(job(t, db, all[0]).State, storage.JobHeld)
	again, held := claim(t, db, "send", 10)
	is.Equal(len(again)+len(held), 0) // held jobs are out of the way

	of := func(lane string) []storage.Job {
		return update(t, db, func(tx *storage.Tx) ([]storage.Job, error) { return tx.ClaimHeld("send", lane, 2, 1, time.Minute) })
	}
	is.Equal(len(of("free")), 0)
	first := of("full")
	is.Equal(ids(first), []int64{all[0], all[2]}) // oldest first
	is.Equal(first[0], job(t, db, all[0]))
	is.Equal(first[1], job(t, db, all[2]))
	is.Equal(first[0].Runs, 1)
	is.True(first[0].LeasedUntil != 0)
	is.Equal(first[1].LeasedUntil, storage.Time(0)) // it waits for a worker
	is.Equal(ids(of("full")), []int64{all[3]})
	is.Equal(len(of("full")), 0)
}

// free makes a leased job due again, as the next process does after a crash.
func free(tx *storage.Tx, j storage.Job) error {
	_, err := tx.FreeJob(storage.RunningJob{ID: j.ID, Runs: j.Runs}, 1, 0)
	return err
}

func TestJobIsSettledOnlyByWhoHoldsItsLease(t *testing.T) {
	settle := map[string]func(*storage.Tx, storage.Job) error{
		"finish":  func(tx *storage.Tx, j storage.Job) error { return tx.FinishJob(j) },
		"retry":   func(tx *storage.Tx, j storage.Job) error { return tx.RetryJob(j, tx.Now, "e") },
		"fail":    func(tx *storage.Tx, j storage.Job) error { return tx.FailJob(j, "e") },
		"release": func(tx *storage.Tx, j storage.Job) error { return tx.ReleaseJob(j, 0) },
	}
	lose := map[string]func(*storage.Tx, storage.Job) error{
		"freed":     free,
		"cancelled": func(tx *storage.Tx, j storage.Job) error { return tx.CancelJob(j.ID) },
		"settled":   func(tx *storage.Tx, j storage.Job) error { return tx.ReleaseJob(j, 0) },
		"with another run": func(tx *storage.Tx, j storage.Job) error {
			if err := free(tx, j); err != nil {
				return err
			}
			_, _, err := tx.ClaimDue("send", 9, time.Minute, func(string) bool { return true })
			return err
		},
	}
	db := open(t, newFile(t))
	for how, settle := range settle {
		for why, lose := range lose {
			t.Run(how+" what was "+why, func(t *testing.T) {
				is := is.New(t)
				id := enqueue(t, db, storage.NewJob{Kind: "send"})[0]
				claimed, _ := claim(t, db, "send", 1)
				stale := claimed[0]
				storagetest.Update(t, db, func(tx *storage.Tx) error { return lose(tx, stale) })
				if how == "finish" && (why == "freed" || why == "settled") {
					storagetest.Update(t, db, func(tx *storage.Tx) error { return settle(tx, stale) }) // it was not leased since
					return
				}
				before := view(t, db, func(rx *storage.Rx) ([]storage.Job, error) { return rx.Jobs(storage.JobFilter{Limit: 9}) })
				err := db.Update(context.Background(), func(tx *storage.Tx) error {
					if err := insert("result")(tx); err != nil {
						return err
					}
					return settle(tx, stale)
				})
				is.True(errors.Is(err, storage.ErrLeaseLost))
				is.Equal(names(t, db), []string{"Acme"}) // its results were undone with it
				is.Equal(view(t, db, func(rx *storage.Rx) ([]storage.Job, error) { return rx.Jobs(storage.JobFilter{Limit: 9}) }), before)
				_ = db.Update(context.Background(), func(tx *storage.Tx) error { return tx.CancelJob(id) })
			})
		}
	}
}

func TestJobOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		id := enqueue(t, db, storage.NewJob{Kind: "send", Lane: "a"})[0]
		run := func() storage.Job {
			claimed, _ := claim(t, db, "send", 1)
			is.Equal(ids(claimed), []int64{id})
			return claimed[0]
		}
		j := run()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.RetryJob(j, tx.Now.Add(time.Minute), "no answer") })
		got := job(t, db, id)
		is.Equal(got.State, storage.JobDue)
		is.Equal(got.DueAt, storage.Now().Add(time.Minute))
		is.Equal([]int{got.Runs, got.Failures, got.Attempt()}, []int{1, 1, 2})
		is.Equal(*got.LastError, "no answer")
		is.Equal(got.LeasedUntil, storage.Time(0))

		time.Sleep(time.Minute)
		j = run()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.ReleaseJob(j, 0) })
		got = job(t, db, id)
		is.Equal([]int{got.Runs, got.Failures}, []int{2, 1}) // broken off: it counts for nothing
		is.Equal(*got.LastError, "no answer")
		is.Equal(got.DueAt, storage.Now())

		j = run()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FailJob(j, "gave up") })
		got = job(t, db, id)
		is.Equal(got.State, storage.JobFailed)
		is.Equal([]int{got.Runs, got.Failures}, []int{3, 2})
		is.Equal(*got.LastError, "gave up")
		claimed, _ := claim(t, db, "send", 1)
		is.Equal(len(claimed), 0)

		j = storage.Job{ID: enqueue(t, db, storage.NewJob{Kind: "send"})[0]}
		id = j.ID
		j = run()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FinishJob(j) })
		err := db.View(context.Background(), func(rx *storage.Rx) error { _, err := rx.Job(id); return err })
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

func TestJobThatGoesBackIsToldToTheRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		enqueue(t, db, storage.NewJob{Kind: "send", Lane: "a"})
		claimed, _ := claim(t, db, "send", 1)
		r := &runner{}
		db.SetDispatcher(r)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.RetryJob(claimed[0], tx.Now.Add(time.Minute), "e") })
		is.Equal(r.heard, []string{"stored send in 1m0s"})
		db.SetDispatcher(nil)
		enqueue(t, db, storage.NewJob{Kind: "send"})
		is.Equal(len(r.heard), 1) // it is gone
	})
}

func TestJobNumbersAreNeverUsedAgain(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	last := enqueue(t, db, storage.NewJob{Kind: "send"}, storage.NewJob{Kind: "send"})[1]
	storagetest.Update(t, db, func(tx *storage.Tx) error { return errors.Join(tx.CancelJob(last), tx.CancelJob(last-1)) })
	is.Equal(enqueue(t, db, storage.NewJob{Kind: "send"})[0], last+1)
}
