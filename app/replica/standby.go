package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"confab/storage"
	"confab/storage/objects"
)

// standbyDir is where a standby keeps its copy, apart from the place of the database: a
// server that is started there by mistake must not find one.
const standbyDir = "standby"

// Standby keeps a copy of what another server sends, until it is promoted.
type Standby struct {
	Options
	store      objects.Store
	promotions chan chan promotion

	mu       sync.Mutex
	follower *follower // nil while there is no copy
	problem  string    // why there is none
}

// promotion is how a promotion went.
type promotion struct {
	Generation
	err error
}

var errNoCopy = errors.New("the copy is not complete yet: try again later")

// NewStandby makes a standby. It does nothing before Run.
func NewStandby(o Options) (*Standby, error) {
	store, err := o.open()
	return &Standby{Options: o, store: store, promotions: make(chan chan promotion)}, err
}

// copyFile is the copy of the database.
func (s *Standby) copyFile() string { return storage.DatabaseFile(s.file(standbyDir)) }

// Run follows the generation in force until ctx ends, or until the standby is promoted: then
// the database is in its place.
func (s *Standby) Run(ctx context.Context) (promoted bool) {
	for ctx.Err() == nil {
		f, err := s.begin(ctx)
		if err == nil {
			promoted, err = s.watch(ctx, f)
			f.stop()
		}
		if promoted {
			return true
		}

		if err == nil {
			err = cmp.Or(ctx.Err(), errNoCopy)
		}
		s.noteProblem(err)
		select {
		case <-ctx.Done():
		case <-time.After(often(followEvery, s.Interval)):
		case result := <-s.promotions:
			result <- promotion{err: err}
		}
	}
	return false
}

// noteProblem remembers why there is no copy, and logs it once.
func (s *Standby) noteProblem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem != err.Error() && !errors.Is(err, context.Canceled) {
		s.Log.Warn("standby", "error", err)
	}
	s.follower, s.problem = nil, err.Error()
}

// begin begins a copy of the newest generation that holds something.
func (s *Standby) begin(ctx context.Context) (*follower, error) {
	from, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(s.file(standbyDir)), os.Mkdir(s.file(standbyDir), 0o700)); err != nil {
		return nil, err
	}

	f, err := s.follow(ctx, from, s.copyFile())
	if err != nil {
		return nil, err
	}
	s.Log.Info("a copy of the replica is made", "url", s.URL, "generation", from.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follower, s.problem = f, ""
	return f, nil
}

// newest is the newest generation that holds something.
func (s *Standby) newest(ctx context.Context) (found Generation, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	now, _, err := readCurrent(ctx, s.store)
	if err != nil {
		return found, s.failed("read from", err)
	}

	if now.Number > 0 {
		for _, g := range now.until(time.Time{}) {
			if at, err := s.lastUpload(ctx, g.Name); err != nil || !at.IsZero() {
				return g, err
			}
		}
	}
	return found, fmt.Errorf("there is no replica at %s yet", s.URL)
}

// watch waits until the standby is promoted, or until another copy must be made: because this
// one does not get on, or because another generation is in force.
func (s *Standby) watch(ctx context.Context, f *follower) (promoted bool, err error) {
	tick := time.Tick(often(time.Second, s.Interval))
	looked := time.Now()
	for {
		select {
		case <-f.ended:
			return false, f.err
		case result := <-s.promotions:
			g, err := s.takeOver(ctx, f)
			result <- promotion{g, err}
			if _, isRefused := errors.AsType[*refusedError](err); isRefused {
				continue // the copy is as it was
			}
			return err == nil, err
		case <-tick:
		}

		if f.isStalled() {
			if _, err := s.newest(ctx); err != nil {
				continue // the storage is away, and then nothing is better than this copy
			}
			return false, errStandbyStalled
		}
		if time.Since(looked) < often(lookEvery, s.Interval) {
			continue
		}
		looked = time.Now()
		if g, err := s.newest(ctx); err == nil && g.Name != f.generation.Name {
			s.Log.Info("another server has taken over, and is followed", "host", g.Host, "generation", g.Name)
			return false, nil
		}
	}
}

// refusedError means that a promotion was refused before it began.
type refusedError struct{ reason string }

func (e *refusedError) Error() string { return e.reason }

// Promote makes the copy the database of the directory and begins a generation, while Run
// runs, which then ends.
func (s *Standby) Promote(ctx context.Context) (Generation, error) {
	result := make(chan promotion, 1)
	select {
	case s.promotions <- result:
	case <-ctx.Done():
		return Generation{}, ctx.Err()
	}
	done := <-result
	return done.Generation, done.err
}

// takeOver catches up, checks the copy, and puts a generation of this machine in force. The
// copy becomes the database last: a crash before leaves a standby.
func (s *Standby) takeOver(ctx context.Context, f *follower) (g Generation, err error) {
	if f.cleanAt().IsZero() {
		return g, &refusedError{errNoCopy.Error()}
	}
	now, version, mine, err := s.mayTakeOver(ctx, f)
	if err != nil {
		return g, err
	}

	if err := f.finish(ctx); err != nil {
		return g, err
	}

	file := s.copyFile()
	if err := storage.CheckDatabase(file, s.Key); err != nil {
		return g, fmt.Errorf("the copy is not sound, and is made afresh: %w", err)
	}
	if err := errors.Join(storage.BeginEpoch(file), storage.HoldRestored(file), storage.ForgetInvitations(file)); err != nil {
		return g, err
	}
	epoch, err := storage.EpochOf(file)
	if err != nil {
		return g, err
	}

	// Written first: if the answer is lost, or this process is killed, the generation in force
	// is known to be this machine's.
	next := now.next(now.Installation, mine.Number)
	if err := (localState{URL: s.URL, Epoch: epoch, Generation: next.Generation}).write(s.file(StateFile)); err != nil {
		return g, err
	}
	if err := next.begin(ctx, s.store, version); err != nil {
		return g, err
	}
	if err := os.Rename(file, storage.DatabaseFile(s.Dir)); err != nil {
		return g, err
	}
	unix.Sync()
	return next.Generation, os.RemoveAll(s.file(standbyDir))
}

// mayTakeOver reads the generation in force, which must be the one of the copy: what another
// has acknowledged since would be lost. One that this machine has begun is no obstacle, because
// it never came to serve.
func (s *Standby) mayTakeOver(ctx context.Context, f *follower) (now current, version string, mine localState, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	if now, version, err = readCurrent(ctx, s.store); err != nil {
		return now, version, mine, &refusedError{s.failed("read from", err).Error()}
	}
	if mine, err = readLocal(s.file(StateFile)); err != nil {
		return now, version, mine, err
	}

	if now.Name != f.generation.Name && now.Name != mine.Name {
		return now, version, mine, &refusedError{fmt.Sprintf("the server on %s took over at %s (generation %d), "+
			"and has sent nothing that is copied here: try again in a minute, or stop it and "+
			"restore what the one before had: confab restore URL",
			now.Host, now.Since.Format(time.RFC3339), now.Number)}
	}
	return now, version, mine, nil
}

// Lag is how far the copy is behind; false if there is none, and then why.
func (s *Standby) Lag() (lag time.Duration, problem string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follower == nil {
		return 0, s.problem, false
	}
	clean := s.follower.cleanAt()
	return time.Since(clean), "", !clean.IsZero()
}

// Status is how far the standby is.
func (s *Standby) Status() Status {
	status := Status{URL: s.URL, Standby: true}
	lag, problem, ok := s.Lag()
	if status.Error = problem; ok {
		status.LagSeconds = seconds(lag)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follower != nil {
		g := s.follower.generation
		status.Generation, status.Since = g.Name, timeOf(g.Since)
	}
	return status
}

// IsStandby reports whether a data directory is a standby's.
func IsStandby(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, standbyDir))
	_, none := os.Stat(storage.DatabaseFile(dir))
	return err == nil && errors.Is(none, os.ErrNotExist)
}
