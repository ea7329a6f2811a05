package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"confab/storage/sqlite"
)

// queueUp lets n of an organization ask for a place, one after the other. Each reports
// that it has it through got, and gives it back when done says so.
func queueUp(semaphore *sqlite.FairSemaphore, organization int64, n int, got chan<- int64, done <-chan struct{}) {
	for range n {
		go func() {
			if semaphore.Acquire(context.Background(), organization) != nil {
				return
			}
			got <- organization
			<-done
			semaphore.Release(organization)
		}()
		synctest.Wait()
	}
}

// However many requests an organization has, another's only one is next.
func TestPlacesGoToTheOrganizationThatHasTheFewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		semaphore := sqlite.NewFairSemaphore(2, 0)
		got, done := make(chan int64, 100), make(chan struct{})
		queueUp(semaphore, 1, 50, got, done)
		queueUp(semaphore, 2, 3, got, done)
		queueUp(semaphore, 3, 1, got, done)
		var order []int64
		for range 54 {
			order = append(order, <-got)
			if len(order) >= 2 {
				done <- struct{}{}
				synctest.Wait()
			}
		}
		is.Equal(order[:2], []int64{1, 1}) // no one else was waiting
		is.Equal(order[2:8], []int64{2, 1, 3, 2, 1, 2})
		done <- struct{}{}
		synctest.Wait()
		is.Equal(semaphore.Queues(), 0) // who has nothing is forgotten
	})
}

func TestWhoHasAPlaceForLongGivesItToWhoeverHasNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		ctx := context.Background()
		semaphore := sqlite.NewFairSemaphore(2, 0)
		is.NoErr(semaphore.Acquire(ctx, 1))
		is.NoErr(semaphore.Acquire(ctx, 1))
		is.NoErr(semaphore.Yield(ctx, 1, false)) // no one wants it

		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(semaphore, 1, 1, got, done)
		is.NoErr(semaphore.Yield(ctx, 1, false)) // its own can wait
		is.Equal(len(got), 0)

		queueUp(semaphore, 2, 1, got, done)
		back := make(chan error)
		go func() { back <- semaphore.Yield(ctx, 1, false) }()
		synctest.Wait()
		is.Equal(<-got, int64(2))
		is.NoErr(semaphore.Yield(ctx, 1, false)) // each has one now: that is fair

		done <- struct{}{}
		is.NoErr(<-back) // before the one of its own that came later
		is.Equal(len(got), 0)
		semaphore.Release(1)
		is.Equal(<-got, int64(1))
		close(done)
	})
}

func TestWhoGivesUpLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		semaphore := sqlite.NewFairSemaphore(1, 3)
		is.NoErr(semaphore.Acquire(context.Background(), 1))
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 3)
		for range 3 {
			go func() { gone <- semaphore.Acquire(ctx, 1) }()
		}
		synctest.Wait()
		is.Equal(semaphore.Acquire(context.Background(), 1), sqlite.ErrTooManyWaiting) // the line is full
		cancel()
		for range 3 {
			is.Equal(<-gone, context.Canceled)
		}
		is.Equal(semaphore.Acquire(ctx, 1), context.Canceled)

		next := make(chan error)
		go func() { next <- semaphore.Acquire(context.Background(), 1) }()
		synctest.Wait()
		semaphore.Release(1)
		is.NoErr(<-next)
		semaphore.Release(1)
		is.Equal(semaphore.Queues(), 0)
	})
}

func TestInternalWorkLeavesAPlaceToTheOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		semaphore := sqlite.NewFairSemaphore(2, 1)
		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(semaphore, sqlite.InternalWork, 3, got, done) // which no line is too long for
		is.Equal(len(got), 1)
		is.NoErr(semaphore.Acquire(context.Background(), 7))
		is.NoErr(semaphore.Yield(context.Background(), 7, false)) // no one could take it
		semaphore.Release(7)
		close(done)
		synctest.Wait()
		is.Equal(len(got), 3) // one after the other
	})
}

// Who has had a place for very long lets others of its organization come first.
func TestWhoHasAPlaceForVeryLongYieldsToItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		semaphore := sqlite.NewFairSemaphore(1, 0)
		is.NoErr(semaphore.Acquire(context.Background(), 1))
		is.NoErr(semaphore.Yield(context.Background(), 1, true)) // no one wants it
		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(semaphore, 1, 2, got, done)
		back := make(chan error, 1)
		go func() { back <- semaphore.Yield(context.Background(), 1, true) }()
		for range 2 {
			synctest.Wait()
			is.Equal(len(back), 0)
			<-got
			done <- struct{}{}
		}
		is.NoErr(<-back)
	})
}

func TestClosingRefusesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		semaphore := sqlite.NewFairSemaphore(1, 0)
		is.NoErr(semaphore.Acquire(context.Background(), 1))
		waiting := make(chan error, 2)
		for organization := range int64(2) {
			go func() { waiting <- semaphore.Acquire(context.Background(), organization) }()
		}
		synctest.Wait()
		semaphore.Close()
		for range 2 {
			is.True(errors.Is(<-waiting, sqlite.ErrUnavailable))
		}
		is.True(errors.Is(semaphore.Acquire(context.Background(), 1), sqlite.ErrUnavailable))
		is.True(errors.Is(semaphore.Yield(context.Background(), 1, false), sqlite.ErrUnavailable)) // and has given it back
	})
}

// In any order of asking, yielding, cancelling and releasing there are never more at
// once than there are places, and no waiter is forgotten.
func TestPlacesAreNeitherLostNorDoubled(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const places = 3
				semaphore := sqlite.NewFairSemaphore(places, 0)
				var mu sync.Mutex
				running, most := 0, 0
				enter := func(by int) {
					mu.Lock()
					defer mu.Unlock()
					running += by
					most = max(most, running)
				}

				var all sync.WaitGroup
				for n := range uint64(60) {
					all.Go(func() {
						dice := rand.New(rand.NewPCG(seed, n))
						ctx, cancel := context.WithCancel(context.Background())
						defer cancel()
						if dice.IntN(4) == 0 {
							go cancel()
						}

						organization := dice.Int64N(4)
						if semaphore.Acquire(ctx, organization) != nil {
							return
						}
						for range dice.IntN(10) {
							enter(1)
							enter(-1)
							if semaphore.Yield(ctx, organization, dice.IntN(2) == 0) != nil {
								return
							}
						}
						enter(1)
						enter(-1)
						semaphore.Release(organization)
					})
				}
				all.Wait()
				is := is.New(t)
				is.True(most <= places)
				is.Equal(semaphore.Queues(), 0)
				for range places {
					is.NoErr(semaphore.Acquire(t.Context(), 9)) // all are there
				}
			})
		})
	}
}
