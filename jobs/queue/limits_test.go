package queue_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
)

// handlerCount counts how many handlers run at once.
type handlerCount struct {
	mu              sync.Mutex
	now, most, done int
	order           []string
}

func (c *handlerCount) handle(length time.Duration) queue.Handler {
	return func(_ context.Context, j storage.Job) (queue.Commit, error) {
		c.mu.Lock()
		c.now++
		c.most = max(c.most, c.now)
		c.order = append(c.order, j.Kind)
		c.mu.Unlock()
		time.Sleep(length)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now--
		c.done++
		return nil, nil
	}
}

func TestNeverMoreRunAtOnceThanThereAreWorkers(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var all, single handlerCount
		start(t, db, queue.Options{Workers: 8, Kinds: []queue.Kind{
			{Name: "a", Handle: all.handle(time.Millisecond)},
			{Name: "b", Handle: all.handle(time.Millisecond)},
			{Name: "single", Workers: 1, Handle: single.handle(time.Millisecond)},
		}})
		var group sync.WaitGroup
		for g := range 12 {
			group.Go(func() {
				for i := range 40 {
					enqueue(t, db, storage.NewJob{Kind: []string{"a", "b", "single"}[(g+i)%3]})
				}
			})
		}
		group.Wait()
		time.Sleep(time.Minute)
		all.mu.Lock()
		single.mu.Lock()
		is.Equal(all.done+single.done, 12*40)
		is.True(all.most <= 8)
		is.Equal(single.most, 1)
	})
}

func TestTwoKindsDoNotShareALane(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var wrong, ran atomic.Int32
		kind := func(name string) queue.Kind {
			return queue.Kind{Name: name, LaneLimit: func(string) int { return 1 }, Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				ran.Add(1)
				if j.Kind != name {
					wrong.Add(1)
				}
				time.Sleep(time.Millisecond)
				return nil, nil
			}}
		}
		start(t, db, queue.Options{Kinds: []queue.Kind{kind("send"), kind("receipt")}})
		for range 10 {
			enqueue(t, db, storage.NewJob{Kind: "send", Lane: "account"}, storage.NewJob{Kind: "receipt", Lane: "account"})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(ran.Load(), int32(20))
		is.Equal(wrong.Load(), int32(0))
	})
}

func TestAHandlerMayRetryAsOftenAsItLikes(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var runs atomic.Int32
		start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "send", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			if runs.Add(1) > 150 {
				return nil, nil
			}
			return nil, queue.RetryAfter(10*time.Second, errors.New("rate limited"))
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "send"})
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(runs.Load(), int32(151))
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestUrgentKindsGoBeforeTheLanesOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var c handlerCount
		start(t, db, queue.Options{Workers: 4, Kinds: []queue.Kind{
			{Name: "high", Handle: c.handle(time.Second)},
			{Name: "low", Handle: c.handle(time.Second), LaneLimit: func(string) int { return 2 }},
		}})
		for lane := range 4 {
			for range 20 {
				enqueue(t, db, storage.NewJob{Kind: "low", Lane: string(rune('A' + lane))})
			}
		}
		for range 4 {
			enqueue(t, db, storage.NewJob{Kind: "high"})
		}
		time.Sleep(5 * time.Minute)
		c.mu.Lock()
		is.Equal(len(c.order), 84)
		is.True(slices.Index(c.order, "high") < 10)
		last := len(c.order) - 1 - slices.Index(reversed(c.order), "high")
		is.True(last < 16) // all four soon, though eighty others came first
	})
}

func reversed(s []string) []string {
	out := slices.Clone(s)
	slices.Reverse(out)
	return out
}
