package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
)

func TestReservedWorkersAreAlwaysThere(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var greedy, modest handlerCount
		start(t, db, queue.Options{Workers: 4, Kinds: []queue.Kind{
			{Name: "greedy", Reserved: 1, Handle: greedy.handle(30 * time.Second)},
			{Name: "modest", Reserved: 2, Workers: 5, Handle: modest.handle(time.Second)},
		}})
		synctest.Wait()
		for range 20 {
			enqueue(t, db, storage.NewJob{Kind: "greedy"})
		}
		for range 6 {
			enqueue(t, db, storage.NewJob{Kind: "modest"})
		}
		now, _, _ := greedy.counts()
		is.Equal(now, 1+4) // its own, and all that are shared
		now, _, _ = modest.counts()
		is.Equal(now, 2) // at once
		time.Sleep(4 * time.Second)
		_, most, done := modest.counts()
		is.Equal([]int{most, done}, []int{2, 6})

		time.Sleep(10 * time.Minute) // now the other one has all to itself
		_, _, done = greedy.counts()
		is.Equal(done, 20)
		for range 20 {
			enqueue(t, db, storage.NewJob{Kind: "modest"})
		}
		now, _, _ = modest.counts()
		is.Equal(now, 5)
		time.Sleep(time.Minute)
		_, most, done = modest.counts()
		is.Equal([]int{most, done}, []int{5, 26})
	})
}

func TestThereIsAWorkerForEveryKindHoweverFewAreShared(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var ran atomic.Int32
		hang := make(chan struct{})
		start(t, db, queue.Options{Workers: 1, Kinds: []queue.Kind{
			{Name: "a", Reserved: 1, Handle: func(context.Context, storage.Job) (queue.Commit, error) { <-hang; return nil, nil }},
			{Name: "b", Reserved: 1, Handle: func(context.Context, storage.Job) (queue.Commit, error) { ran.Add(1); return nil, nil }},
		}})
		t.Cleanup(func() { close(hang) })
		for range 5 {
			enqueue(t, db, storage.NewJob{Kind: "a"})
		}
		enqueue(t, db, storage.NewJob{Kind: "b"})
		synctest.Wait()
		is.Equal(ran.Load(), int32(1))
	})
}

// Twelve numbers have campaigns, and together more jobs than there are workers. The
// message of a thirteenth does not wait for their end.
func TestALaneWithFewJobsNeedNotWaitForThoseWithMany(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var began atomic.Int64
		start(t, db, queue.Options{Workers: 8, Kinds: []queue.Kind{{
			Name: "send", LaneLimit: func(string) int { return 4 },
			Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				if j.Lane == "few" {
					began.Store(time.Now().Unix())
				}
				time.Sleep(10 * time.Second)
				return nil, nil
			},
		}}})
		for lane := range 12 {
			for range 30 {
				enqueue(t, db, storage.NewJob{Kind: "send", Lane: fmt.Sprint(lane)})
			}
		}
		time.Sleep(15 * time.Second)
		stored := time.Now().Unix()
		enqueue(t, db, storage.NewJob{Kind: "send", Lane: "few"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.True(began.Load()-stored <= 30) // all together take more than seven minutes
		is.Equal(len(waiting(t, db)), 0)
	})
}

// Retries become due while no worker is free. They too wait in their lanes.
func TestRetriesShareTheWorkersWithOtherLanes(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var c handlerCount
		slow := c.handle(10 * time.Second)
		start(t, db, queue.Options{Workers: 4, Kinds: []queue.Kind{{
			Name: "send", LaneLimit: func(string) int { return 4 },
			Handle: func(ctx context.Context, j storage.Job) (queue.Commit, error) {
				if j.Lane == "many" && j.Attempt() == 1 {
					return nil, queue.RetryAfter(time.Second, errors.New("busy"))
				}
				return slow(ctx, j)
			},
		}}})
		for range 100 {
			enqueue(t, db, storage.NewJob{Kind: "send", Lane: "many"})
		}
		time.Sleep(15 * time.Second)
		enqueue(t, db, storage.NewJob{Kind: "send", Lane: "few"})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for _, j := range waiting(t, db) {
			is.True(j.Lane != "few" || j.State == storage.JobRunning)
		}
		time.Sleep(time.Hour)
		is.Equal(len(waiting(t, db)), 0)
	})
}
