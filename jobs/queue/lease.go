package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"confab/jobs/timeout"
	"confab/storage"
)

const (
	// lapseGrace is how long a run keeps its job after the end of its lease: the
	// answer to its call may just have arrived.
	lapseGrace = 30 * time.Second
	// abandonedDelay is how long a job at least waits that was taken from its run.
	abandonedDelay = time.Minute
)

// errLeaseExpired is the cause of a handler's context that ends with its lease.
var errLeaseExpired = errors.New("the job's lease is over")

// The phases of a run.
const (
	working   = iota // its handler has not returned
	answered         // its handler has returned, and its worker is free
	abandoned        // its job and its worker were taken from it
)

// run is a job whose handler was started and whose end is not written yet. It is
// also the context of the handler.
//
// Its lease is counted from its start by the monotonic clock. Nothing here depends
// on the clock that people see and set.
type run struct {
	context.Context
	kind     *kindState
	job      storage.Job
	began    time.Time
	cancel   context.CancelCauseFunc
	timer    *timeout.Timer
	extended atomic.Int64 // how long after began the lease was last extended

	// Runner.mu guards phase and lapsed, which stay once the phase is not working.
	phase  int
	lapsed bool // its lease is over

	onSettled []func()       // only its own goroutine uses it
	taken     sync.WaitGroup // until the end is written that abandon gave it
}

// runKey finds the run in the context of a handler.
type runKey struct{}

func (c *run) Value(key any) any {
	if key == (runKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (r *Runner) newRun(k *kindState, j storage.Job) *run {
	c := &run{kind: k, job: j, began: time.Now()}
	c.Context, c.cancel = context.WithCancelCause(r.base)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[j.ID] = c
	c.timer = timeout.AfterFunc(k.Lease, func() { r.expire(c) })
	return c
}

// forget ends what belongs to a run that is over.
func (r *Runner) forget(c *run) {
	c.timer.Stop()
	c.cancel(nil)

	r.mu.Lock()
	if r.running[c.job.ID] == c { // another run may have the job by now
		delete(r.running, c.job.ID)
	}
	r.mu.Unlock()

	c.taken.Wait()
	for _, f := range c.onSettled {
		f()
	}
}

func (c *run) left() time.Duration {
	end := min(time.Duration(c.extended.Load())+c.kind.Lease, c.kind.MaxRun)
	return end - time.Since(c.began)
}

// expire is called when the lease of a run may be over. It ends the context of the
// handler, and waits for what that returns. Only if it does not return even then,
// its job is taken from it.
func (r *Runner) expire(c *run) {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch left := c.left(); {
	case c.phase != working:
	case c.lapsed:
		r.abandon(c)
	case left > 0: // it was extended
		c.timer.Reset(left)
	default:
		c.lapsed = true
		c.cancel(errLeaseExpired)
		c.timer.Reset(lapseGrace)
	}
}

// abandon takes the job and the worker from a run whose handler does not return.
// The run counts as failed. The caller holds mu.
func (r *Runner) abandon(c *run) {
	c.phase = abandoned
	next := r.freeWorker(c)

	c.taken.Add(1)
	r.group.Go(func() {
		defer c.taken.Done()
		r.startAll(c.kind, next)
		r.settle(c, nil, errLeaseExpired)
	})
}

// Extend renews the lease of the run that ctx belongs to, because it makes progress:
// up to Kind.MaxRun in all. It costs little and may be called often.
func Extend(ctx context.Context) {
	if c, ok := ctx.Value(runKey{}).(*run); ok {
		c.extended.Store(int64(time.Since(c.began)))
	}
}

// Stopped reports whether the run that ctx belongs to was stopped from outside:
// because the runner stops, or because its job was cancelled. A run whose lease is
// over was not stopped; it took too long.
func Stopped(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != errLeaseExpired
}

// OnSettled registers what to do when the run that ctx belongs to is over, and its
// results are written or dropped. Only the handler itself may call it.
func OnSettled(ctx context.Context, f func()) {
	if c, ok := ctx.Value(runKey{}).(*run); ok {
		c.onSettled = append(c.onSettled, f)
	}
}

const (
	// checkEvery is how often the leases in the table are compared with the runs.
	checkEvery = time.Minute
	// checkedRows bounds the jobs that are looked at each time.
	checkedRows = 5000
)

// leaseCheck is the state of the comparison of the table with the runner's memory.
type leaseCheck struct {
	last     time.Time
	after    int64                // the job after which it goes on
	suspects []storage.RunningJob // leased, and unknown to the runner when last looked at
}

// checkLeases frees jobs that the table shows as running although the runner does
// not have them. None should exist; but one that did would wait until the next
// start. A job that is being handed over is in the table first, so a job is freed
// only if it is still unknown at the next check.
func (r *Runner) checkLeases(ctx context.Context) error {
	c := &r.check
	if time.Since(c.last) < checkEvery {
		return nil
	}
	c.last = time.Now()

	if err := r.freeUnknown(ctx, c.suspects); err != nil {
		return err
	}
	c.suspects = nil

	return r.DB.View(ctx, func(rx *storage.Rx) error {
		running, last, err := rx.RunningJobsAmong(c.after, checkedRows)
		if err != nil {
			return err
		}
		c.after, c.suspects = last, r.unknown(running)
		return nil
	})
}

// freeUnknown frees the jobs of a list that the runner does not have.
func (r *Runner) freeUnknown(ctx context.Context, jobs []storage.RunningJob) error {
	lost := r.unknown(jobs)
	if len(lost) == 0 {
		return nil
	}

	return r.DB.Update(ctx, func(tx *storage.Tx) error {
		for _, j := range lost {
			freed, err := tx.FreeJob(j, j.Crashes, 0)
			if err != nil {
				return err
			}
			if freed { // else it was settled while the table was read
				tx.AfterCommit(func() { r.Log.Error("freed a job that was leased to no worker", "job", j.ID) })
			}
		}
		return nil
	})
}

// unknown returns those of the jobs that neither run nor are leased ahead.
func (r *Runner) unknown(jobs []storage.RunningJob) (lost []storage.RunningJob) {
	if len(jobs) == 0 {
		return nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	ahead := make(map[int64]bool)
	for _, l := range r.lanes {
		for _, j := range slices.Concat(l.ready, l.returning) {
			ahead[j.ID] = true
		}
	}

	for _, j := range jobs {
		current := r.running[j.ID]
		if (current == nil || current.job.Runs != j.Runs) && !ahead[j.ID] {
			lost = append(lost, j)
		}
	}
	return lost
}
