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

const day = 24 * time.Hour

// wrongClock runs a test under a virtual clock, on a database whose own clock the test
// can set.
func wrongClock(t *testing.T, test func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := &storagetest.Clock{}
		o := storagetest.Options(t, t.TempDir())
		o.Now = clock.Now
		test(t, is.New(t), storagetest.OpenWith(t, o), clock)
	})
}

// failing is a handler whose first run fails and is tried again after a minute.
func failing(runs *atomic.Int32) queue.Handler {
	return func(context.Context, storage.Job) (queue.Commit, error) {
		if runs.Add(1) == 1 {
			return nil, queue.RetryAfter(time.Minute, errors.New("not yet"))
		}
		return nil, nil
	}
}

func TestPeriodicJobsGoOnWhenTheClockIsSet(t *testing.T) {
	for name, to := range map[string]time.Duration{"back": -200 * day, "ahead": 200 * day} {
		t.Run(name, func(t *testing.T) {
			wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
				var runs atomic.Int32
				kinds := []queue.Kind{{Name: "hourly", Every: time.Hour, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
					runs.Add(1)
					return nil, nil
				}}}
				_, stop := start(t, db, queue.Options{Kinds: kinds})
				time.Sleep(90 * time.Minute)
				clock.Set(to)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				is.Equal(runs.Load(), int32(4)) // at once, and after each hour
				stop()

				clock.Set(0)
				start(t, db, queue.Options{Kinds: kinds})
				time.Sleep(time.Hour)
				synctest.Wait()
				is.Equal(runs.Load(), int32(5+1)) // at once, because its last run is unknown, and after an hour
			})
		})
	}
}

// TestAPeriodicJobThatFailedAheadOfTimeRunsAgain has its retry far in the future.
func TestAPeriodicJobThatFailedAheadOfTimeRunsAgain(t *testing.T) {
	wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
		var runs atomic.Int32
		kinds := []queue.Kind{{Name: "hourly", Every: time.Hour, Handle: failing(&runs)}}
		clock.Set(200 * day)
		_, stop := start(t, db, queue.Options{Kinds: kinds})
		time.Sleep(time.Second)
		stop()
		is.Equal(runs.Load(), int32(1))
		clock.Set(0)
		start(t, db, queue.Options{Kinds: kinds})
		time.Sleep(150 * time.Minute)
		synctest.Wait()
		is.Equal(runs.Load(), int32(4)) // the retry at once, and then each hour
	})
}

func TestRetriesComeNearWhenTheClockIsSetBack(t *testing.T) {
	for name, c := range map[string]struct {
		back    time.Duration
		restart bool
	}{
		"far, in one process":    {200 * day, false},
		"far, in the next one":   {200 * day, true},
		"a little, in one":       {20 * time.Hour, false},
		"a moment, in one":       {30 * time.Second, false},
		"a moment, in the next":  {30 * time.Second, true},
		"ahead of what is right": {-20 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
				var runs, later atomic.Int32
				o := queue.Options{Kinds: []queue.Kind{
					{Name: "retried", MaxDelay: day, Handle: failing(&runs)},
					{Name: "later", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
						later.Add(1)
						return nil, nil
					}},
				}}
				chosen := enqueue(t, db, storage.NewJob{Kind: "later", DueAt: db.Now().Add(300 * day)})[0]

				clock.Set(c.back)
				_, stop := start(t, db, o)
				enqueue(t, db, storage.NewJob{Kind: "retried"}, storage.NewJob{Kind: "later", DueAt: db.Now().Add(time.Hour)})
				time.Sleep(10 * time.Second)
				if c.restart {
					stop()
				}
				clock.Set(0)
				if c.restart {
					start(t, db, o)
				}
				time.Sleep(90 * time.Second)
				synctest.Wait()
				is.Equal(runs.Load(), int32(2))
				time.Sleep(time.Hour)
				synctest.Wait()
				is.Equal(later.Load(), int32(1)) // that of the wrong time, which counted from then

				left := waiting(t, db)
				is.Equal(len(left), 1) // a time that somebody chose stays
				is.Equal(left[0].ID, chosen)
			})
		})
	}
}

// What waits for a chosen time may wait for months, so that no time is impossible. A start
// lets it look.
func TestWhatLooksAtTheClockIsAskedAtAStart(t *testing.T) {
	wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
		due := db.Now().Add(time.Hour)
		var done, asked atomic.Int32
		o := queue.Options{Kinds: []queue.Kind{{Name: "later", MaxDelay: 91 * day, LooksAtClock: true,
			Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				if asked.Add(1); db.Now() < due {
					return nil, queue.PostponeUntil(due)
				}
				done.Add(1)
				return nil, nil
			}}}}
		enqueue(t, db, storage.NewJob{Kind: "later", DueAt: due})
		clock.Set(2 * day)
		enqueue(t, db, storage.NewJob{Kind: "later", DueAt: due}) // which is long past, so that it is due now
		clock.Set(0)

		start(t, db, o)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(asked.Load(), int32(1)) // the first was made by a right clock
		is.Equal(done.Load(), int32(0))
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(done.Load(), int32(2))
	})
}

// TestDelaysAreBounded holds what a kind says of its delays against what it does: by
// that a time is known which no right clock can have set.
func TestDelaysAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var ran []time.Duration
		began := time.Now()
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", MaxDelay: time.Minute, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			ran = append(ran, time.Since(began).Round(time.Second))
			switch len(ran) {
			case 1:
				return nil, queue.RetryAfter(time.Hour, errors.New("not yet"))
			case 2:
				return nil, queue.Postpone(time.Hour)
			}
			return nil, nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(ran, []time.Duration{0, time.Minute, 2 * time.Minute})
	})
}

// The clock of a database need not be that of the machine.
func TestADelayIsByTheClockOfTheDatabase(t *testing.T) {
	wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
		clock.Set(30 * day)
		var ran []time.Duration
		began := time.Now()
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			if ran = append(ran, time.Since(began).Round(time.Second)); len(ran) < 3 {
				return nil, queue.Postpone(time.Minute)
			}
			return nil, nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "k"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(ran, []time.Duration{0, time.Minute, 2 * time.Minute})
	})
}

func TestALeaseIsAsLongAsItIsWhateverTheClockSays(t *testing.T) {
	for name, to := range map[string]time.Duration{"set back": -200 * day, "set ahead": 200 * day} {
		t.Run(name, func(t *testing.T) {
			wrongClock(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storagetest.Clock) {
				var patient, deaf atomic.Int32
				start(t, db, queue.Options{Kinds: []queue.Kind{
					{Name: "patient", Lease: time.Minute, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
						patient.Add(1)
						time.Sleep(50 * time.Second)
						return nil, nil
					}},
					{Name: "deaf", Lease: time.Minute, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
						if deaf.Add(1) == 1 {
							time.Sleep(time.Hour)
						}
						return nil, nil
					}},
				}})
				enqueue(t, db, storage.NewJob{Kind: "patient"}, storage.NewJob{Kind: "deaf"})
				time.Sleep(5 * time.Second)
				clock.Set(to)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				is.Equal(patient.Load(), int32(1)) // it was in time
				is.Equal(deaf.Load(), int32(2))    // it was not
				is.Equal(len(waiting(t, db)), 0)
				time.Sleep(time.Hour)
			})
		})
	}
}
