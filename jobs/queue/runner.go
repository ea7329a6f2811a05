package queue

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"confab/storage"
)

const (
	// maxClaim bounds the jobs of one claim, and so how long it holds the writer.
	maxClaim = 128
	// pauseAfterFault is how long the runner waits after an error of the database.
	pauseAfterFault = time.Second
)

// Options configure a Runner.
type Options struct {
	DB      *storage.DB
	Kinds   []Kind
	Workers int           // jobs running at once on workers that all kinds share
	Poll    time.Duration // how often to look for jobs, should a wake-up be missed
	Grace   time.Duration // how long to let jobs finish when stopping
	Log     *slog.Logger
	// OnRun, if set, is called after each run. The outcome is "done", "retry", "failed", "postponed",
	// "interrupted" or "lease_lost".
	OnRun func(kind, outcome string, took time.Duration)
	// Fence, if set, returns an error if no job may begin any more.
	Fence func(context.Context) error
}

// Runner claims jobs and runs them. The package comment describes how.
type Runner struct {
	Options
	order  []*kindState // by priority
	kinds  map[string]*kindState
	wake   chan struct{} // has one slot: a signal that is not read yet is enough
	moves  chan *move    // of the clock: see move.go
	memory *memoryCache
	group  sync.WaitGroup  // reservations, runs and their settling
	base   context.Context // of all runs; ends when the grace time is over
	stop   context.CancelFunc

	// What the clock said at the last pass, and when that was; only the loop uses them.
	passedNow storage.Time
	passedAt  time.Time
	polledAt  time.Time // when it last looked at the whole queue
	move      *move     // of which not all has started that became due; nil for none

	begun      atomic.Int64 // runs so far
	lanesStale atomic.Bool  // the closed lanes must be loaded again

	recovered chan struct{} // closed when the leases of the process before are freed

	// mu guards what follows, and the fields of kinds and lanes.
	mu          sync.Mutex
	accepting   bool
	free        int // workers that kinds share
	lanes       map[laneKey]*laneState
	running     map[int64]*run // by job, until its end is written
	sleepsUntil storage.Time   // when the loop wakes up by itself; 0 while it does not sleep
	starved     bool           // jobs wait for the next free worker
	turns       int            // claims of lanes so far

	check leaseCheck // only the loop uses it
}

// New makes a runner. It does nothing until Run.
func New(o Options) *Runner {
	base, stop := context.WithCancel(context.Background())
	r := &Runner{
		Options: o,
		base:    base,
		stop:    stop,
		kinds:   make(map[string]*kindState),
		wake:    make(chan struct{}, 1),
		moves:   make(chan *move),
		memory:  &memoryCache{all: make(map[int64]memory)},
		free:    o.Workers,
		lanes:   make(map[laneKey]*laneState),
		running: make(map[int64]*run),

		recovered: make(chan struct{}),
	}

	for _, k := range o.Kinds {
		// Waiting, because jobs may have been stored before the runner existed.
		state := &kindState{Kind: k.withDefaults(o.Workers), waiting: true}
		r.order = append(r.order, state)
		r.kinds[k.Name] = state
	}
	return r
}

// Run works until ctx ends, then lets running jobs finish, releases those that
// do not within the grace time, and returns.
func (r *Runner) Run(ctx context.Context) error {
	defer r.stop()

	if err := r.recoverState(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // stopped before it began
		}
		return err
	}
	r.DB.SetDispatcher(r)

	for ctx.Err() == nil {
		next, err := r.pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("could not claim jobs", "error", err)
			next = r.DB.Now().Add(pauseAfterFault)
		}
		r.wait(ctx, next)
	}

	r.drain()
	return nil
}

// Recovered is closed when the jobs of the process before are free, and say whether their outside
// calls may have begun.
func (r *Runner) Recovered() <-chan struct{} { return r.recovered }

// recoverState frees the leases of the process before, which died with them, makes
// jobs due that wait for an impossible time, and finds the lanes that are closed or
// have held jobs.
func (r *Runner) recoverState(ctx context.Context) error {
	if err := r.DB.Update(ctx, (*storage.Tx).LoadClosedLanes); err != nil {
		return err
	}

	var leased []storage.RunningJob
	var held []storage.HeldLane
	err := r.DB.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
		if leased, err = rx.RunningJobs(); err != nil {
			return err
		}
		held, err = rx.HeldLanes()
		return err
	})
	if err != nil {
		return err
	}

	for batch := range slices.Chunk(leased, maxClaim) {
		if err := r.DB.Update(ctx, func(tx *storage.Tx) error { return freeCrashed(tx, batch) }); err != nil {
			return err
		}
	}
	close(r.recovered)

	if err := r.advanceImpossible(ctx); err != nil {
		return err
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	for _, h := range held {
		if k := r.kinds[h.Kind]; k != nil {
			r.lane(k, h.Lane).held = true
		}
	}
	r.accepting = true
	r.check.last = time.Now()
	return nil
}

// pass is one round of the loop: it claims and starts all that can start now, and
// returns when the next job is due.
func (r *Runner) pass(ctx context.Context) (next storage.Time, err error) {
	for _, step := range []func(context.Context) error{
		r.followClock, r.reloadLanes, r.checkLeases, r.enqueuePeriodic, r.claimAll,
	} {
		if err := step(ctx); err != nil {
			return 0, err
		}
	}

	next, err = r.findNextDue(ctx)
	if r.move != nil && r.move.waits {
		next = earlier(next, r.DB.Now().Add(slowAfter-time.Since(r.move.since)))
	}
	return next, err
}

// claimAll claims for the kinds that share workers in order, and at the same time
// for those that have only their own: the claims then share a commit, and none waits
// for another.
func (r *Runner) claimAll(ctx context.Context) error {
	if r.move != nil {
		return r.claimInOrder(ctx)
	}

	var shared []*kindState
	var group sync.WaitGroup
	errs := make([]error, len(r.order)+1)

	for i, k := range r.order {
		if k.Workers > k.Reserved {
			shared = append(shared, k)
			continue
		}
		group.Go(func() { errs[i] = claim(ctx, []*kindState{k}, r.startReady, r.claimHeld, r.claimDue) })
	}

	errs[len(r.order)] = claim(ctx, shared, r.startReady, r.claimHeld, r.claimDue)
	group.Wait()
	return errors.Join(errs...)
}

// claim starts what can start now of kinds, in their order, by some steps. Within a kind, jobs
// that are leased already go before held ones, and those before new ones.
func claim(ctx context.Context, kinds []*kindState, steps ...func(context.Context, *kindState) error) error {
	for _, k := range kinds {
		for _, step := range steps {
			if err := step(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rescan makes the runner look at the whole queue and at the closed lanes again,
// because another process may have changed them.
func (r *Runner) Rescan() {
	r.lanesStale.Store(true)
	r.markWaiting()
	r.signal()
}

// markWaiting says of all kinds that the database may have due jobs of them.
func (r *Runner) markWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.order {
		k.waiting, k.dueKnown = true, false
	}
}

// reloadLanes loads the closed lanes again if Rescan was called.
func (r *Runner) reloadLanes(ctx context.Context) error {
	if !r.lanesStale.Swap(false) {
		return nil
	}

	err := r.DB.Update(ctx, (*storage.Tx).LoadClosedLanes)
	if err != nil {
		r.lanesStale.Store(true)
	}
	return err
}

// locked runs a change of what mu guards.
func (r *Runner) locked(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// signal wakes the loop. It does not block.
func (r *Runner) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Cancel stops a job that is running or leased ahead. Its row must be deleted
// before, so that its run cannot be settled.
func (r *Runner) Cancel(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if run := r.running[id]; run != nil {
		run.cancel(nil)
	}
	for _, l := range r.lanes {
		if i := slices.IndexFunc(l.ready, func(j storage.Job) bool { return j.ID == id }); i >= 0 {
			l.ready = slices.Delete(slices.Clone(l.ready), i, i+1)
		}
	}
}

// drain admits no more jobs, and waits for those that run: for the grace time as
// they are, and then for a second after cancelling them.
func (r *Runner) drain() {
	defer r.DB.SetDispatcher(nil)

	r.locked(func() { r.accepting = false })
	r.group.Go(r.holdAllReady)

	done := make(chan struct{})
	go func() {
		r.group.Wait()
		close(done)
	}()

	select {
	case <-done:
		return
	case <-time.After(r.Grace):
	}

	r.stop()
	select {
	case <-done:
	case <-time.After(time.Second):
		r.Log.Warn("jobs were still running at shutdown: they start again with the next server")
	}
}

const (
	// maxCrashes stops a job that takes the process down each time it runs.
	maxCrashes = 10
	// freeCrashes is how many crashes delay a job by nothing.
	freeCrashes = 2
)

// freeCrashed frees the jobs that were running when the process died.
//
// Any of them may be to blame, and most are not. So each waits longer after each
// crash, and by chance not as long as the others: before long those that are
// innocent run while the culprit does not, and end. A job fails for good after
// maxCrashes. Its runs were spread over about a quarter of an hour by then: a server
// that is killed again and again meanwhile, for reasons of its own, finds the job
// waiting most of the time, and counts nothing.
//
// A job that was leased ahead counts nothing either. If it is to blame,
// it will be the first of its lane before long, and then it counts.
func freeCrashed(tx *storage.Tx, jobs []storage.RunningJob) error {
	for _, j := range jobs {
		crashes, due := j.Crashes, storage.Time(0)
		if j.LeasedUntil != 0 {
			crashes++
			if crashes > freeCrashes { // four seconds after the third, doubled each time
				due = tx.Now.Add(Jitter(time.Second<<min(crashes-1, maxCrashes), 0.5))
			}
		}
		if _, err := tx.FreeJob(j, crashes, due); err != nil {
			return err
		}
	}
	return nil
}
