package storage

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// countPatience is how long one waits for a count. It is less than most clients
	// do, who should hear that it goes on.
	countPatience = 20 * time.Second
	// A count is kept for keptFactor times as long as it took, but not longer than
	// keptLongest: what is counted quickly is counted anew each time, and those who
	// ask for long counts all the time keep a connection busy for a part of it only.
	keptFactor  = 5
	keptLongest = 30 * time.Second
)

// statsCounts are the counts of deliveries that take long: those under way, and for a
// while those that are done.
//
//   - Who asks for a count that is under way waits for that one.
//   - An organization's counts are made one after the other, so that the first are done
//     soon, and its searches find a connection.
//   - A count goes on when those who wait lose patience: they are told to ask again,
//     and find it further on, or done.
//   - When all who wait for it disconnect, a count that has not begun is dropped. One
//     that has begun goes on, for they will ask again.
type statsCounts struct {
	patience time.Duration
	turns    *turns

	mu  sync.Mutex
	all map[statsKey]*statsCount
}

// statsKey is what is counted.
type statsKey struct {
	subscription string
	since        Time
}

// statsCount is one count. done is closed when it has ended, and what is behind it is
// then never changed.
type statsCount struct {
	cancel  context.CancelFunc
	waiting int  // how many wait for it; this and begun are guarded by statsCounts.mu
	begun   bool // it has its first turn

	done  chan struct{}
	stats DeliveryStats
	err   error
	until time.Time // it is kept
}

// countFunc counts. It calls begin when it has its first turn.
type countFunc func(ctx context.Context, begin func()) (DeliveryStats, error)

func newStatsCounts() *statsCounts {
	return &statsCounts{
		patience: countPatience,
		turns:    newSingleTurns(maxWaitingSearches),
		all:      make(map[statsKey]*statsCount),
	}
}

// share returns the count of a key that is kept or under way, or else starts it.
func (c *statsCounts) share(ctx context.Context, key statsKey, count countFunc) (DeliveryStats, error) {
	n := c.join(ctx, key, count)
	timer := time.NewTimer(c.patience)
	defer timer.Stop()

	select {
	case <-n.done:
		c.leave(key, n, false)
		return n.stats, n.err
	case <-timer.C:
		c.leave(key, n, false)
		return DeliveryStats{}, fmt.Errorf("%w: the deliveries are still being counted", ErrUnavailable)
	case <-ctx.Done():
		c.leave(key, n, true)
		return DeliveryStats{}, ctx.Err()
	}
}

// join finds or starts a count, for one more who waits for it.
func (c *statsCounts) join(ctx context.Context, key statsKey, count countFunc) *statsCount {
	c.mu.Lock()
	defer c.mu.Unlock()

	for key, n := range c.all {
		if n.isOver() {
			delete(c.all, key)
		}
	}

	n := c.all[key]
	if n == nil {
		n = &statsCount{done: make(chan struct{})}
		c.all[key] = n

		// Nobody's request may end it: others wait for it too.
		ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go n.run(ctx, count, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			n.begun = true
		})
	}
	n.waiting++
	return n
}

// run counts. A panic becomes the error of those who wait.
func (n *statsCount) run(ctx context.Context, count countFunc, begin func()) {
	defer close(n.done)
	defer n.cancel()
	defer func() {
		if p := recover(); p != nil {
			n.err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	began := time.Now()
	n.stats, n.err = count(ctx, begin)
	n.until = time.Now().Add(min(keptFactor*time.Since(began), keptLongest))
}

// isOver tells whether the count has ended and is not to be kept any longer.
func (n *statsCount) isOver() bool {
	select {
	case <-n.done:
		return n.err != nil || !time.Now().Before(n.until)
	default:
		return false
	}
}

// leave is called by each who has joined. When the last one disconnects, a count that has
// not begun is dropped.
func (c *statsCounts) leave(key statsKey, n *statsCount, disconnected bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	n.waiting--
	if disconnected && n.waiting == 0 && !n.begun {
		n.cancel()
		if c.all[key] == n {
			delete(c.all, key)
		}
	}
}
