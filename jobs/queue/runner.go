package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"confab/storage"
)

const (
	// maxClaim bounds the jobs of one claim, and so how long it holds the writer.
	maxClaim = 128
	// maxCrashes stops a job that takes the process down each time it runs.
	maxCrashes = 10
	// pauseAfterFault is how long the runner waits when the database fails it.
	pauseAfterFault = time.Second
)

// Options configure a Runner.
type Options struct {
	DB       *storage.DB
	Kinds    []Kind
	Workers  int           // jobs running at once, of all kinds that have none of their own
	Poll     time.Duration // how often to look, should a wake-up be missed
	Grace    time.Duration // how long to let jobs finish when stopping
	Log      *slog.Logger
	OnFinish func(Finish)
}

// Runner works the jobs table.
type Runner struct {
	Options
	order    []*kindState // by priority
	kinds    map[string]*kindState
	wake     chan struct{}
	memories *memories
	crew     crew
	group    sync.WaitGroup  // runs and their settling
	base     context.Context // of all runs; ends when the grace time is over
	stop     context.CancelFunc

	mu        sync.Mutex
	accepting bool
	free      int
	lanes     map[laneKey]*laneState
	running   map[int64]*run
	nextDue   storage.Time
	starved   bool // something waits for the next free worker
	stale     bool // which lanes are closed must be found out anew
}

// run is one job being worked on.
type run struct {
	job    storage.Job
	cancel context.CancelFunc
}

// New makes a runner. It does nothing until Run.
func New(o Options) *Runner {
	base, stop := context.WithCancel(context.Background())
	r := &Runner{
		Options:  o,
		base:     base,
		stop:     stop,
		kinds:    make(map[string]*kindState),
		wake:     make(chan struct{}, 1),
		memories: newMemories(),
		crew:     newCrew(),
		free:     o.Workers,
		lanes:    make(map[laneKey]*laneState),
		running:  make(map[int64]*run),
	}
	for _, k := range o.Kinds {
		if k.Workers <= 0 || (k.Workers > o.Workers && !k.Own) {
			k.Workers = o.Workers
		}
		if k.Lease <= 0 {
			k.Lease = defaultLease
		}
		if k.Attempts <= 0 {
			k.Attempts = defaultAttempts
		}
		state := &kindState{Kind: k, waiting: true}
		r.order = append(r.order, state)
		r.kinds[k.Name] = state
	}
	return r
}

// Run works until ctx ends, then lets running jobs finish, releases those that
// do not within the grace time, and returns.
func (r *Runner) Run(ctx context.Context) error {
	defer r.stop()
	if err := r.recover(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it began
		}
		return err
	}
	r.DB.SetDispatcher(r)
	for ctx.Err() == nil {
		next, err := r.pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("claim jobs", "error", err)
			next = storage.Now().Add(pauseAfterFault)
		}
		r.wait(ctx, next)
	}
	r.drain()
	return nil
}

// recover frees what a process that died had leased, and finds the lanes that
// are closed or held.
func (r *Runner) recover(ctx context.Context) error {
	if err := r.DB.Update(ctx, (*storage.Tx).LoadClosedLanes); err != nil {
		return err
	}
	var (
		leased []int64
		held   []storage.HeldLane
	)
	err := r.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if leased, err = rx.RunningJobs(); err != nil {
			return err
		}
		held, err = rx.HeldLanes()
		return err
	})
	if err != nil {
		return err
	}
	for len(leased) > 0 {
		batch := leased[:min(maxClaim, len(leased))]
		leased = leased[len(batch):]
		err := r.DB.Update(ctx, func(tx *storage.Tx) error {
			for _, id := range batch {
				if err := tx.FreeJob(id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range held {
		if k := r.kinds[h.Kind]; k != nil {
			r.lane(k, h.Lane).held = true
		}
	}
	r.accepting = true
	return nil
}

// pass claims all that can start now, starts it, and returns when to look again.
func (r *Runner) pass(ctx context.Context) (next storage.Time, err error) {
	r.lapse()
	if r.takeStale() {
		if err := r.DB.Update(ctx, (*storage.Tx).LoadClosedLanes); err != nil {
			return 0, err
		}
	}
	if err := r.enqueuePeriodic(ctx); err != nil {
		return 0, err
	}
	if err := r.claimAll(ctx); err != nil {
		return 0, err
	}
	return r.lookAhead(ctx)
}

// claimAll claims for the kinds that share workers in order, and at the same time
// for those that have their own: the claims then share a commit, and none waits
// for another.
func (r *Runner) claimAll(ctx context.Context) error {
	var shared []*kindState
	var group sync.WaitGroup
	errs := make([]error, len(r.order)+1)
	for i, k := range r.order {
		if !k.Own {
			shared = append(shared, k)
			continue
		}
		group.Go(func() { errs[i] = r.claim(ctx, k) })
	}
	errs[len(r.order)] = r.claim(ctx, shared...)
	group.Wait()
	return errors.Join(errs...)
}

// claim starts what can start now of kinds, the first of them first.
func (r *Runner) claim(ctx context.Context, kinds ...*kindState) error {
	for _, k := range kinds {
		if err := r.takeTurns(ctx, k); err != nil {
			return err
		}
		if err := r.claimHeld(ctx, k); err != nil {
			return err
		}
		if err := r.claimDue(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// enqueuePeriodic puts the periodic kinds on the queue whose time has come.
func (r *Runner) enqueuePeriodic(ctx context.Context) error {
	for _, k := range r.order {
		if k.Every == 0 || storage.Now() < k.nextRun {
			continue
		}
		if r.busy(k) { // its last job is still at it: leave this turn out
			k.nextRun = storage.Now().Add(k.Every)
			continue
		}
		var last storage.Time
		err := r.DB.View(ctx, func(rx *storage.Rx) (err error) {
			last, err = rx.PeriodicRun(k.Name)
			return err
		})
		if err != nil {
			return err
		}
		if due := last.Add(k.Every); last != 0 && last <= storage.Now() && due > storage.Now() {
			k.nextRun = due
			continue
		}
		if err := r.DB.Update(ctx, func(tx *storage.Tx) error { return tx.EnqueuePeriodic(k.Name) }); err != nil {
			return err
		}
		k.nextRun = storage.Now().Add(k.Every)
	}
	return nil
}

// busy tells whether a job of the kind is running.
func (r *Runner) busy(k *kindState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return k.running > 0
}

// lookAhead finds when the next waiting job is due, and notes which kinds have
// one due already that no wake-up told of.
func (r *Runner) lookAhead(ctx context.Context) (storage.Time, error) {
	var next storage.Time
	due := make(map[*kindState]storage.Time, len(r.order))
	r.mu.Lock()
	r.nextDue = 0 // whoever stores one after this look sets it again
	r.mu.Unlock()
	err := r.DB.View(ctx, func(rx *storage.Rx) error {
		for _, k := range r.order {
			at, err := rx.NextDue(k.Name)
			if err != nil {
				return err
			}
			due[k] = at
			if k.Every > 0 {
				next = earlier(next, k.nextRun)
			}
		}
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	now := storage.Now()
	for k, at := range due {
		switch {
		case at == 0:
		case at <= now:
			if !k.waiting {
				k.waiting = true
				r.wakeUp()
			}
		default:
			next = earlier(next, at)
		}
	}
	return next, err
}

// wait sleeps until a wake-up, the next due job, or the next poll.
func (r *Runner) wait(ctx context.Context, next storage.Time) {
	r.mu.Lock()
	next = earlier(next, r.nextDue)
	r.mu.Unlock()
	pause := r.Poll
	if next != 0 {
		pause = max(0, min(pause, next.Sub(storage.Now())))
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-timer.C:
	}
}

// Wake makes the runner look at everything again: another process may have
// changed the queue.
func (r *Runner) Wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stale = true
	for _, k := range r.order {
		k.waiting = true
	}
	r.wakeUp()
}

// takeStale tells, once, whether the closed lanes must be loaded again.
func (r *Runner) takeStale() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	stale := r.stale
	r.stale = false
	return stale
}

// wakeUp nudges the loop without waiting for it.
func (r *Runner) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Cancel stops a job that is running; its row must be gone already.
func (r *Runner) Cancel(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.running[id]; run != nil {
		run.cancel()
		return
	}
	r.drop(id)
}

// drain stops claiming and waits for what runs.
func (r *Runner) drain() {
	defer r.DB.SetDispatcher(nil)
	r.mu.Lock()
	r.accepting = false
	r.mu.Unlock()
	r.putAllBack()
	done := make(chan struct{})
	go func() {
		r.group.Wait()
		close(done)
	}()
	grace := time.NewTimer(r.Grace)
	defer grace.Stop()
	select {
	case <-done:
		return
	case <-grace.C:
	}
	r.stop()
	last := time.NewTimer(time.Second)
	defer last.Stop()
	select {
	case <-done:
	case <-last.C:
		r.Log.Warn("jobs still running at shutdown; they start again with the next server")
	}
}
