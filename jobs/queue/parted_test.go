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

// noHold lets no job be held again for as long as it is there, as if another
// process held the lock.
const noHold = `CREATE TRIGGER no_hold BEFORE UPDATE ON jobs WHEN NEW.state = 'held' BEGIN SELECT RAISE(ABORT, 'locked'); END`

func TestWhatWasLeasedAheadIsNotLostWhenItCannotBePutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, dir := is.New(t), t.TempDir()
		db := storagetest.OpenDir(t, dir)
		var l line
		l.start(t, db, 4)
		ids := pile(t, db, 20)
		synctest.Wait()
		l.places.Store(0) // all that was leased ahead has to go back
		storagetest.Exec(t, dir, noHold)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		is.Equal(states(t, db), map[string]int{storage.JobRunning: 16})
		storagetest.Exec(t, dir, `DROP TRIGGER no_hold`)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		is.Equal(states(t, db), map[string]int{storage.JobHeld: 16})
		l.places.Store(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(l.done()[4:], ids[4:])
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestAStopPutsBackWhatWasLeasedAheadOnceItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, dir := is.New(t), t.TempDir()
		db := storagetest.OpenDir(t, dir)
		l := line{hang: true}
		_, stop := l.start(t, db, 4)
		pile(t, db, 20)
		synctest.Wait()
		storagetest.Exec(t, dir, noHold)
		time.AfterFunc(3*time.Second, func() { storagetest.Exec(t, dir, `DROP TRIGGER no_hold`) })
		stop()
		is.Equal(states(t, db), map[string]int{storage.JobHeld: 16, storage.JobDue: 4})
	})
}

// A job whose end cannot be written must not stay with a run that is over.
func TestAJobThatCannotBeGivenUpIsKeptForAPerson(t *testing.T) {
	for name, write := range map[string]queue.Commit{
		"error": func(*storage.Tx) error { return errors.New("no such table") },
		"panic": func(*storage.Tx) error { panic("boom") },
		"none":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
				fail := true
				start(t, db, queue.Options{Kinds: []queue.Kind{{
					Name: "k", Attempts: 1,
					Handle: func(context.Context, storage.Job) (queue.Commit, error) {
						if fail {
							return nil, errors.New("no luck")
						}
						return nil, nil
					},
					GiveUp: func(storage.Job, error) queue.Commit { return write },
				}}})
				id := enqueue(t, db, storage.NewJob{Kind: "k"})[0]
				time.Sleep(time.Minute)
				synctest.Wait()
				left := waiting(t, db)
				is.Equal(len(left), 1)
				is.Equal(left[0].State, storage.JobFailed)
				is.True(left[0].LastError != nil)
				fail = false
				storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.RetryJobNow(id); return err })
				time.Sleep(time.Minute)
				synctest.Wait()
				is.Equal(len(waiting(t, db)), 0)
			})
		})
	}
}

// Nothing should part the table and the runner's memory. If something does, the
// runner finds out by itself.
func TestALeaseThatNobodyHasIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, dir := is.New(t), t.TempDir()
		db := storagetest.OpenDir(t, dir)
		var runs atomic.Int32
		held := make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		start(t, db, queue.Options{Kinds: []queue.Kind{
			{Name: "k", Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				runs.Add(1)
				is.True(j.CallBegunAt != 0)
				return nil, nil
			}},
			{Name: "long", Lease: time.Hour, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				<-held
				return nil, nil
			}},
			{Name: "job", LeaseAhead: 4, Lease: time.Hour, LaneLimit: func(string) int { return 1 }, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				<-held
				return nil, nil
			}},
		}})
		t.Cleanup(release)
		synctest.Wait()
		enqueue(t, db, storage.NewJob{Kind: "long"}, storage.NewJob{Kind: "k", DueAt: storage.Now().Add(time.Hour)})
		pile(t, db, 5)
		storagetest.Exec(t, dir, `UPDATE jobs SET state = 'running', runs = 1, due_at = created_at WHERE kind = 'k'`)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(1))
		is.Equal(states(t, db), map[string]int{storage.JobRunning: 6}) // what the runner has is left alone
		release()
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestAPreloadThatPanicsStopsNoJob(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		pile(t, db, 10)
		start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: "job", LeaseAhead: 4, LaneLimit: func(string) int { return 2 },
			Preload: func(context.Context, []storage.Job) { panic("boom") },
			Handle:  func(context.Context, storage.Job) (queue.Commit, error) { runs.Add(1); return nil, nil },
		}}})
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(10))
	})
}
