package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"confab/storage/sqlite"
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

// statsCounts are the counts that take long, of deliveries or of messages: those under
// way, and for a while those that are done.
//
//   - Who asks for a count that is under way waits for that one.
//   - An organization's counts are made one after the other, so that the first are done
//     soon, and its searches find a connection.
//   - A count goes on when those who wait lose patience: they are told to ask again,
//     and find it further on, or done.
//   - When all who wait for it disconnect, a count that has not begun is dropped. One
//     that has begun goes on, for they will ask again.
type statsCounts[V any] struct {
	patience   time.Duration
	oneAtATime *sqlite.FairSemaphore

	mu  sync.Mutex
	all map[statsKey]*statsCount[V]
}

// statsKey is what is counted.
type statsKey struct {
	subject string // a subscription, or whose messages
	since   Time
}

// statsCount is one count. done is closed when it has ended, and what is behind it is
// then never changed.
type statsCount[V any] struct {
	cancel  context.CancelFunc
	waiting int  // how many wait for it; this and begun are guarded by statsCounts.mu
	begun   bool // it has its first turn

	done  chan struct{}
	stats V
	err   error
	until time.Time // it is kept
}

// countFunc counts. It calls begin when it has its first turn.
type countFunc[V any] func(ctx context.Context, begin func()) (V, error)

// newStatsCounts makes counts that take turns with others.
func newStatsCounts[V any](t *sqlite.FairSemaphore) *statsCounts[V] {
	return &statsCounts[V]{patience: countPatience, oneAtATime: t, all: make(map[statsKey]*statsCount[V])}
}

// countShared counts with fn, for a client of an organization. What one step counts is
// counted at once. What takes longer is counted as a search, one at a time for an
// organization, and once for all who ask the same meanwhile.
func countShared[V any](
	ctx context.Context, db *DB, c *statsCounts[V], organization int64, key statsKey, fn func(*Rx) (V, error),
) (v V, err error) {
	read := func(rx *Rx) (err error) {
		v, err = fn(rx)
		return err
	}
	if err := db.readBriefly(ctx, organization, read); !errors.Is(err, sqlite.ErrLong) {
		return v, err
	}

	return c.share(ctx, key, func(ctx context.Context, begin func()) (v V, err error) {
		if err := c.oneAtATime.Acquire(ctx, organization); err != nil {
			return v, err
		}
		defer c.oneAtATime.Release(organization)

		err = db.Search(ctx, organization, func(rx *Rx) (err error) {
			begin()
			v, err = fn(rx)
			return err
		})
		return v, err
	})
}

// share returns the count of a key that is kept or under way, or else starts it.
func (c *statsCounts[V]) share(ctx context.Context, key statsKey, count countFunc[V]) (none V, err error) {
	n := c.join(ctx, key, count)
	timer := time.NewTimer(c.patience)
	defer timer.Stop()

	select {
	case <-n.done:
		c.leave(key, n, false)
		return n.stats, n.err
	case <-timer.C:
		c.leave(key, n, false)
		return none, fmt.Errorf("%w: this is still being counted", ErrUnavailable)
	case <-ctx.Done():
		c.leave(key, n, true)
		return none, ctx.Err()
	}
}

// join finds or starts a count, for one more who waits for it.
func (c *statsCounts[V]) join(ctx context.Context, key statsKey, count countFunc[V]) *statsCount[V] {
	c.mu.Lock()
	defer c.mu.Unlock()

	for key, n := range c.all {
		if n.isOver() {
			delete(c.all, key)
		}
	}

	n := c.all[key]
	if n == nil {
		n = &statsCount[V]{done: make(chan struct{})}
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
func (n *statsCount[V]) run(ctx context.Context, count countFunc[V], begin func()) {
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
func (n *statsCount[V]) isOver() bool {
	select {
	case <-n.done:
		return n.err != nil || !time.Now().Before(n.until)
	default:
		return false
	}
}

// leave is called by each who has joined. When the last one disconnects, a count that has
// not begun is dropped.
func (c *statsCounts[V]) leave(key statsKey, n *statsCount[V], disconnected bool) {
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
