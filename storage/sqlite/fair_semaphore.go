package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrTooManyWaiting means that too many searches of an organization wait to add one.
var ErrTooManyWaiting = errors.New("too many searches of the organization wait")

// InternalWork is the organization of what the server reads for itself, for jobs and metrics.
const InternalWork int64 = 0

// FairSemaphore shares a few slots between organizations, so that one which asks for
// much holds up itself and not the others.
//
//   - Each organization has a queue of its own, in which its own order holds.
//   - A slot that becomes free goes to the organization that has the fewest; among
//     those with equally few to the one that has waited longest since it got one.
//   - A holder that keeps a slot for long offers it now and then (Yield), and loses it if
//     an organization with fewer slots waits. It then waits at the head of its
//     queue. So an organization with one request waits for one step of another's,
//     however many the other has.
//   - Who has had a slot for very long also offers it to its own queue, and then waits
//     at the end of that.
//   - A queue has a greatest length, so that no organization can make the server remember
//     any number of requests. Internal work is a queue too, but of any length, for it never
//     has many; and it leaves the last slot to the organizations.
//
// mu guards everything. A waiter is a channel with room for its one answer: nil when it
// was given a slot, which then is taken, or why it gets none.
type FairSemaphore struct {
	slots      int // how many there are
	maxWaiting int // how long a queue may be; 0: any length

	mu     sync.Mutex
	taken  int
	queues map[int64]*queue // of all organizations that have a slot or wait for one
	order  []*queue         // those in which somebody waits; the one that got none for longest first
	closed bool
}

// queue is what an organization has of the slots, and what it waits for.
type queue struct {
	organization int64
	running      int
	waiters      []chan error // the next one first
}

// NewFairSemaphore makes a semaphore with some slots.
func NewFairSemaphore(slots, maxWaiting int) *FairSemaphore {
	return &FairSemaphore{slots: slots, maxWaiting: maxWaiting, queues: make(map[int64]*queue)}
}

// Acquire waits for a slot, which has to be given back by Release.
func (f *FairSemaphore) Acquire(ctx context.Context, organization int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waiter, err := f.enqueue(organization)
	if err != nil || waiter == nil {
		return err
	}
	return f.wait(ctx, organization, waiter)
}

// enqueue takes a slot, or returns who waits for one.
func (f *FairSemaphore) enqueue(organization int64) (waiter chan error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	q := f.queues[organization]
	if q == nil {
		q = &queue{organization: organization}
	}

	switch {
	case f.closed:
		return nil, errClosed
	case f.taken < f.slots && f.mayTake(q):
		f.queues[organization] = q
		f.taken++
		q.running++
		return nil, nil
	case f.maxWaiting > 0 && len(q.waiters) >= f.maxWaiting && organization != InternalWork:
		return nil, ErrTooManyWaiting
	}

	f.queues[organization] = q
	waiter = make(chan error, 1)
	q.waiters = append(q.waiters, waiter)
	if len(q.waiters) == 1 {
		f.order = append(f.order, q)
	}
	return waiter, nil
}

// wait waits until a waiter is answered, or removes it when ctx ends.
func (f *FairSemaphore) wait(ctx context.Context, organization int64, waiter chan error) error {
	select {
	case err := <-waiter:
		return err
	case <-ctx.Done():
	}

	// It may have been answered at the same moment: then the slot goes to the next.
	if !f.withdraw(organization, waiter) {
		if err := <-waiter; err == nil {
			f.Release(organization)
		}
	}
	return ctx.Err()
}

func (f *FairSemaphore) withdraw(organization int64, waiter chan error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	q := f.queues[organization]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiters, waiter)
	if i < 0 {
		return false
	}

	q.waiters = slices.Delete(q.waiters, i, i+1)
	f.forget(q)
	return true
}

// Release gives a slot back.
func (f *FairSemaphore) Release(organization int64) {
	f.mu.Lock()
	defer f.mu.Unlock()

	q := f.queues[organization]
	q.running--
	f.taken--
	f.serve()
	f.forget(q)
}

// Yield offers a slot to organizations that have fewer, and with long to the own one, and waits for another
// if it was wanted. With an error the slot was given back.
func (f *FairSemaphore) Yield(ctx context.Context, organization int64, long bool) error {
	waiter, err := f.offer(organization, long)
	if err != nil {
		f.Release(organization)
		return err
	}
	if waiter == nil {
		return nil
	}
	return f.wait(ctx, organization, waiter)
}

// offer gives a slot away if somebody wants it, and returns the waiter for the next one.
func (f *FairSemaphore) offer(organization int64, long bool) (waiter chan error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.closed {
		return nil, errClosed
	}

	q := f.queues[organization]
	isPoorer := func(other *queue) bool { return other.running < q.running && f.mayTake(other) }
	if !slices.ContainsFunc(f.order, isPoorer) && (!long || len(q.waiters) == 0) {
		return nil, nil
	}

	waiter = make(chan error, 1)
	at := 0
	if long {
		at = len(q.waiters)
	}
	q.waiters = slices.Insert(q.waiters, at, waiter)
	f.moveToEnd(q) // since it was just served

	q.running--
	f.taken--
	f.serve()
	return waiter, nil
}

// mayTake reports whether an organization may have one slot more, if one is free.
func (f *FairSemaphore) mayTake(q *queue) bool {
	return q.organization != InternalWork || q.running < max(1, f.slots-1)
}

func (f *FairSemaphore) serve() {
	for f.taken < f.slots {
		var next *queue
		for _, q := range f.order {
			if f.mayTake(q) && (next == nil || q.running < next.running) {
				next = q
			}
		}
		if next == nil {
			return
		}

		waiter := next.waiters[0]
		next.waiters = next.waiters[1:]
		next.running++
		f.taken++
		f.moveToEnd(next)
		waiter <- nil
	}
}

// moveToEnd makes a queue the last in order, if anybody waits in it.
func (f *FairSemaphore) moveToEnd(q *queue) {
	f.order = slices.DeleteFunc(f.order, func(other *queue) bool { return other == q })
	if len(q.waiters) > 0 {
		f.order = append(f.order, q)
	}
}

// forget drops a queue without waiters from the order, and if it has no slot, altogether.
func (f *FairSemaphore) forget(q *queue) {
	if len(q.waiters) > 0 {
		return
	}
	f.order = slices.DeleteFunc(f.order, func(other *queue) bool { return other == q })
	if q.running == 0 {
		delete(f.queues, q.organization)
	}
}

// errClosed is what those get who come too late.
var errClosed = fmt.Errorf("%w: the database is closed", ErrUnavailable)

// Close refuses those who wait or come later. Holders keep their slots until the next yield.
func (f *FairSemaphore) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = true
	for _, q := range f.order {
		for _, waiter := range q.waiters {
			waiter <- errClosed
		}
		q.waiters = nil
	}
	f.order = nil
}
