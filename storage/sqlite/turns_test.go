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

// queueUp lets n of an organization ask for a place, one after the other. Each tells
// that it has it through got, and gives it back when done says so.
func queueUp(turns *sqlite.Turns, organization int64, n int, got chan<- int64, done <-chan struct{}) {
	for range n {
		go func() {
			if turns.Take(context.Background(), organization) != nil {
				return
			}
			got <- organization
			<-done
			turns.Release(organization)
		}()
		synctest.Wait()
	}
}

// However many wishes an organization has, another's only one is the next.
func TestPlacesGoToTheOrganizationThatHasTheFewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewTurns(2, 0)
		got, done := make(chan int64, 100), make(chan struct{})
		queueUp(turns, 1, 50, got, done)
		queueUp(turns, 2, 3, got, done)
		queueUp(turns, 3, 1, got, done)
		var order []int64
		for range 54 {
			order = append(order, <-got)
			if len(order) >= 2 {
				done <- struct{}{}
				synctest.Wait()
			}
		}
		is.Equal(order[:2], []int64{1, 1}) // nobody else was there
		is.Equal(order[2:8], []int64{2, 1, 3, 2, 1, 2})
		done <- struct{}{}
		synctest.Wait()
		is.Equal(turns.Lines(), 0) // who has nothing is forgotten
	})
}

func TestWhoHasAPlaceForLongGivesItToWhoeverHasNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		ctx := context.Background()
		turns := sqlite.NewTurns(2, 0)
		is.NoErr(turns.Take(ctx, 1))
		is.NoErr(turns.Take(ctx, 1))
		is.NoErr(turns.Yield(ctx, 1, false)) // nobody wants it

		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(turns, 1, 1, got, done)
		is.NoErr(turns.Yield(ctx, 1, false)) // its own can wait
		is.Equal(len(got), 0)

		queueUp(turns, 2, 1, got, done)
		back := make(chan error)
		go func() { back <- turns.Yield(ctx, 1, false) }()
		synctest.Wait()
		is.Equal(<-got, int64(2))
		is.NoErr(turns.Yield(ctx, 1, false)) // each has one now: that is fair

		done <- struct{}{}
		is.NoErr(<-back) // before the one of its own that came later
		is.Equal(len(got), 0)
		turns.Release(1)
		is.Equal(<-got, int64(1))
		close(done)
	})
}

func TestWhoGivesUpLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewTurns(1, 3)
		is.NoErr(turns.Take(context.Background(), 1))
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 3)
		for range 3 {
			go func() { gone <- turns.Take(ctx, 1) }()
		}
		synctest.Wait()
		is.Equal(turns.Take(context.Background(), 1), sqlite.ErrCrowded) // the line is full
		cancel()
		for range 3 {
			is.Equal(<-gone, context.Canceled)
		}
		is.Equal(turns.Take(ctx, 1), context.Canceled)

		next := make(chan error)
		go func() { next <- turns.Take(context.Background(), 1) }()
		synctest.Wait()
		turns.Release(1)
		is.NoErr(<-next)
		turns.Release(1)
		is.Equal(turns.Lines(), 0)
	})
}

func TestInternalWorkLeavesAPlaceToTheOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewTurns(2, 1)
		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(turns, sqlite.InternalWork, 3, got, done) // which no line is too long for
		is.Equal(len(got), 1)
		is.NoErr(turns.Take(context.Background(), 7))
		is.NoErr(turns.Yield(context.Background(), 7, false)) // there is nobody who could have it
		turns.Release(7)
		close(done)
		synctest.Wait()
		is.Equal(len(got), 3) // one after the other
	})
}

// Who has had a place for very long lets others of its organization come first.
func TestWhoHasAPlaceForVeryLongYieldsToItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewTurns(1, 0)
		is.NoErr(turns.Take(context.Background(), 1))
		is.NoErr(turns.Yield(context.Background(), 1, true)) // nobody wants it
		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(turns, 1, 2, got, done)
		back := make(chan error, 1)
		go func() { back <- turns.Yield(context.Background(), 1, true) }()
		for range 2 {
			synctest.Wait()
			is.Equal(len(back), 0)
			<-got
			done <- struct{}{}
		}
		is.NoErr(<-back)
	})
}

func TestSingleTurnsGiveEachOrganizationOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewSingleTurns(1)
		got, done := make(chan int64, 10), make(chan struct{})
		queueUp(turns, 1, 2, got, done)
		queueUp(turns, 2, 2, got, done)
		is.Equal([]int64{<-got, <-got}, []int64{1, 2})
		is.Equal(len(got), 0)
		is.Equal(turns.Take(context.Background(), 1), sqlite.ErrCrowded)
		close(done)
		synctest.Wait()
		is.Equal(len(got), 2)
		is.Equal(turns.Lines(), 0)
	})
}

func TestClosingRefusesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		turns := sqlite.NewTurns(1, 0)
		is.NoErr(turns.Take(context.Background(), 1))
		waiting := make(chan error, 2)
		for organization := range int64(2) {
			go func() { waiting <- turns.Take(context.Background(), organization) }()
		}
		synctest.Wait()
		turns.Close()
		for range 2 {
			is.True(errors.Is(<-waiting, sqlite.ErrUnavailable))
		}
		is.True(errors.Is(turns.Take(context.Background(), 1), sqlite.ErrUnavailable))
		is.True(errors.Is(turns.Yield(context.Background(), 1, false), sqlite.ErrUnavailable)) // and has given it back
	})
}

// In any order of asking, yielding, giving up and giving back there are never more at
// once than there are places, and nobody is forgotten.
func TestPlacesAreNeitherLostNorDoubled(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const places = 3
				turns := sqlite.NewTurns(places, 0)
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
						if turns.Take(ctx, organization) != nil {
							return
						}
						for range dice.IntN(10) {
							enter(1)
							enter(-1)
							if turns.Yield(ctx, organization, dice.IntN(2) == 0) != nil {
								return
							}
						}
						enter(1)
						enter(-1)
						turns.Release(organization)
					})
				}
				all.Wait()
				is := is.New(t)
				is.True(most <= places)
				is.Equal(turns.Lines(), 0)
				for range places {
					is.NoErr(turns.Take(t.Context(), 9)) // all are there
				}
			})
		})
	}
}
