package queue_test

import (
	"context"
	"fmt"
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

func TestALaneRunsSoManyAtOnceAndStaysInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var mu sync.Mutex
		var order []string
		running, most := 0, 0
		start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name:      "deliver",
			LaneLimit: func(string) int { return 2 },
			Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				mu.Lock()
				running++
				most = max(most, running)
				order = append(order, string(j.Args))
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil, nil
			},
		}}})
		var want []string
		for i := range 10 {
			enqueue(t, db, storage.NewJob{Kind: "deliver", Lane: "wbs_1", Args: storagetest.Args(i)})
			want = append(want, fmt.Sprint(i))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(most, 2)
		is.Equal(len(order), 10)
		for i := 0; i < 10; i += 2 { // two run side by side, so only pairs are in order
			pair := map[string]bool{order[i]: true, order[i+1]: true}
			is.True(pair[want[i]] && pair[want[i+1]])
		}
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestAHangingLaneDoesNotHoldUpAnother(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var quick atomic.Int32
		start(t, db, queue.Options{Workers: 4, Kinds: []queue.Kind{{
			Name:      "deliver",
			LaneLimit: func(string) int { return 2 },
			Handle: func(ctx context.Context, j storage.Job) (queue.Commit, error) {
				if j.Lane == "hangs" {
					<-ctx.Done()
					return nil, queue.RetryAfter(time.Hour, ctx.Err())
				}
				quick.Add(1)
				return nil, nil
			},
		}}})
		for range 200 {
			enqueue(t, db, storage.NewJob{Kind: "deliver", Lane: "hangs"})
		}
		for range 50 {
			enqueue(t, db, storage.NewJob{Kind: "deliver", Lane: "quick"})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(quick.Load(), int32(50))
	})
}

func TestAClosedLaneWaitsAndIsReleasedInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var open atomic.Bool
		var mu sync.Mutex
		var order []string
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: "deliver",
			LaneLimit: func(string) int {
				if open.Load() {
					return 1
				}
				return 0
			},
			Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, string(j.Args))
				return nil, nil
			},
		}}})
		for i := range 5 {
			enqueue(t, db, storage.NewJob{Kind: "deliver", Lane: "paused", Args: storagetest.Args(i)})
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(order), 0)
		open.Store(true)
		r.Rescan()
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(order, []string{"0", "1", "2", "3", "4"})
	})
}
