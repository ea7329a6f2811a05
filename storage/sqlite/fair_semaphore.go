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
	turns  int64            // counts what queue.turn is
	closed bool
}

// queue is what an organization has of the slots, and what it waits for.
type queue struct {
	isInternal bool
	running    int
	waiters    []chan error // the next one first
	turn       int64        // when it got a slot or began to wait: the less, the longer ago
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
	return f.wait(ctx, organization, f.enqueue(organization))
}

// enqueue returns a new waiter, which is the last of its organization.
func (f *FairSemaphore) enqueue(organization int64) chan error {
	f.mu.Lock()
	defer f.mu.Unlock()

	q := f.queues[organization]
	if q == nil {
		q = &queue{isInternal: organization == InternalWork}
		f.queues[organization] = q
	}
	defer f.forget(organization)

	waiter := make(chan error, 1)
	switch {
	case f.closed:
		waiter <- errClosed
	case f.maxWaiting > 0 && len(q.waiters) >= f.maxWaiting && !q.isInternal:
		waiter <- ErrTooManyWaiting
	default:
		if q.waiters = append(q.waiters, waiter); len(q.waiters) == 1 {
			f.moveToEnd(q)
		}
		f.serve()
	}
	return waiter
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
	if q == nil || !slices.Contains(q.waiters, waiter) {
		return false
	}
	q.waiters = slices.DeleteFunc(q.waiters, func(other chan error) bool { return other == waiter })
	f.forget(organization)
	return true
}

// Release gives a slot back.
func (f *FairSemaphore) Release(organization int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release(organization)
}

// release is Release for callers that hold mu.
func (f *FairSemaphore) release(organization int64) {
	f.queues[organization].running--
	f.taken--
	f.serve()
	f.forget(organization)
}

// Yield offers a slot to organizations that have fewer, and with long to the own one, and waits for another
// if it was wanted. With an error the slot was given back.
func (f *FairSemaphore) Yield(ctx context.Context, organization int64, long bool) error {
	waiter := f.offer(organization, long)
	if waiter == nil {
		return nil
	}
	return f.wait(ctx, organization, waiter)
}

// offer gives a slot away if somebody wants it, and returns the waiter for the next one.
func (f *FairSemaphore) offer(organization int64, long bool) chan error {
	f.mu.Lock()
	defer f.mu.Unlock()

	q, waiter := f.queues[organization], make(chan error, 1)
	isWanted := long && len(q.waiters) > 0
	for _, other := range f.queues {
		isWanted = isWanted || other.running < q.running && f.mayTake(other)
	}

	switch {
	case f.closed:
		waiter <- errClosed
	case !isWanted:
		return nil
	case long:
		q.waiters = append(q.waiters, waiter)
	default:
		q.waiters = slices.Insert(q.waiters, 0, waiter)
	}
	f.moveToEnd(q) // since it was just served
	f.release(organization)
	return waiter
}

// mayTake reports whether somebody waits in a queue who may have a slot, if one is free.
func (f *FairSemaphore) mayTake(q *queue) bool {
	return len(q.waiters) > 0 && (!q.isInternal || q.running < max(1, f.slots-1))
}

func (f *FairSemaphore) serve() {
	for f.taken < f.slots {
		var next *queue
		for _, q := range f.queues {
			if f.mayTake(q) && (next == nil || q.running < next.running || q.running == next.running && q.turn < next.turn) {
				next = q
			}
		}
		if next == nil {
			return
		}

		next.waiters[0] <- nil
		next.waiters = next.waiters[1:]
		next.running++
		f.taken++
		f.moveToEnd(next)
	}
}

// moveToEnd makes a queue the last among those with equally many slots.
func (f *FairSemaphore) moveToEnd(q *queue) {
	f.turns++
	q.turn = f.turns
}

// forget drops the queue of an organization that has no slot and waits for none.
func (f *FairSemaphore) forget(organization int64) {
	if q := f.queues[organization]; q.running == 0 && len(q.waiters) == 0 {
		delete(f.queues, organization)
	}
}

// errClosed is what those get who come too late.
var errClosed = fmt.Errorf("%w: the database is closed", ErrUnavailable)

// Close refuses those who wait or come later. Holders keep their slots until the next yield.
func (f *FairSemaphore) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = true
	for organization, q := range f.queues {
		for _, waiter := range q.waiters {
			waiter <- errClosed
		}
		q.waiters = nil
		f.forget(organization)
	}
}
