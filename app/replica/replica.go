package replica

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"confab/storage"
	"confab/storage/objects"
)

// Names in the data directory.
const (
	StateFile  = "replica.json" // see localState
	waitingDir = "replica"      // what waits to be sent
	lockName   = "replica.lock" // held by the child
)

// usualInterval is how often changes are sent unless replica.interval says otherwise.
const usualInterval = 250 * time.Millisecond

// often is how often something is done that is done every d at the usual interval: those who send
// more often look more often, too.
func often(d, interval time.Duration) time.Duration {
	return d * min(interval, usualInterval) / usualInterval
}

const (
	// lookEvery is how often a server looks whether it was superseded: see often.
	lookEvery = 5 * time.Second
	// lookTime limits a look.
	lookTime = 5 * time.Second
	// removeEvery is how often old generations are looked for.
	removeEvery = time.Hour
	// downTime is how long the child may be down before the writer makes checkpoints again.
	downTime = 10 * time.Second
)

// ChildCommand is the name of the hidden command that runs RunChild.
const ChildCommand = "replicate"

// Options say what is replicated, and where to, or what a standby follows.
type Options struct {
	Settings
	DB         *storage.DB // nil for a standby
	Key        []byte      // the master key, to check with
	MaxBacklog int64
	Log        *slog.Logger

	// Command makes the child process; nil runs ChildCommand of this binary.
	Command func() (*exec.Cmd, error)
}

// Settings are what a child knows, too.
type Settings struct {
	Place
	Dir           string        `json:"dir"` // the data directory
	Interval      time.Duration `json:"interval"`
	SnapshotEvery time.Duration `json:"snapshot_every"`
	Keep          time.Duration `json:"keep"`
}

func (s Settings) file(name string) string { return filepath.Join(s.Dir, name) }

// Replica replicates the database of a running server; nil is that of one which has none.
type Replica struct {
	Options
	store        objects.Store
	installation string
	epoch        string
	settled      chan struct{} // closed when the generation is known
	ended        chan struct{} // closed when no child will be started any more; nil before Run
	stopping     chan struct{}

	looking sync.Mutex
	fencing sync.Mutex
	stops   atomic.Int64 // of the process, after which Fence has looked

	mu            sync.Mutex
	local         localState
	process       *process  // nil while there is no child
	last          report    // of the child
	cleanAt       time.Time // all that was committed before is sent
	downSince     time.Time // zero while the child follows
	checkpoints   bool      // the writer makes its own
	changes       int64     // of the database, when all was sent; -1 before that
	reported      int64     // changes of the database when the last report came; -1 before that
	superseded    error     // that this server must end, once it is known
	problem       string    // why the storage was not looked at
	verifyProblem string
}

// Open finds or begins the generation of a server before it serves. While the storage does
// not answer it goes on with what the directory remembers.
func Open(ctx context.Context, o Options) (*Replica, error) {
	r := &Replica{
		Options: o, downSince: time.Now(), cleanAt: time.Now(), checkpoints: true, changes: -1, reported: -1,
		settled: make(chan struct{}), stopping: make(chan struct{}),
	}
	if r.Command == nil {
		r.Command = thisBinary
	}
	removeLeftovers(o.Dir)

	var err error
	if r.store, err = o.open(); err != nil {
		return nil, err
	}
	if err := r.readDatabase(ctx); err != nil {
		return nil, err
	}
	if r.local, err = readLocal(r.file(StateFile)); err != nil {
		return nil, err
	}
	if r.local.URL == o.URL && r.local.Number > 0 && r.local.Epoch == r.epoch {
		close(r.settled)
	}

	err = r.look(ctx)
	if isFinal(err) {
		return nil, err
	}
	if err != nil {
		o.Log.Warn("the replica's storage does not answer: changes are sent when it does", "error", err)
	}

	// A checkpoint before the child has the log would make the next copy a whole one.
	return r, r.setCheckpoints(ctx, false)
}

// thisBinary runs the hidden command of this binary. It sends parts of 5 MB and needs little memory, so
// it collects garbage earlier than the server does.
func thisBinary() (*exec.Cmd, error) {
	binary, err := os.Executable()
	command := exec.Command(binary, ChildCommand)
	command.Env = append(os.Environ(), "GOGC=50")
	return command, err
}

// readDatabase reads what the database is known by.
func (r *Replica) readDatabase(ctx context.Context) error {
	return r.DB.Update(ctx, func(tx *storage.Tx) error {
		p, err := tx.Progress()
		if err != nil {
			return err
		}
		r.epoch = p.Epoch
		r.installation, err = tx.NameInstallation()
		return err
	})
}

// isFinal reports whether an error means that the server must not run.
func isFinal(err error) bool {
	_, superseded := errors.AsType[*SupersededError](err)
	return superseded || errors.Is(err, errForeign)
}

// look looks whether the generation of this server is in force, and begins one if there is
// none.
func (r *Replica) look(ctx context.Context) error {
	r.looking.Lock()
	defer r.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	r.mu.Lock()
	mine, superseded := r.local, r.superseded
	r.mu.Unlock()
	if superseded != nil {
		return superseded
	}
	found, err := settle(ctx, r.store, mine, r.URL, r.epoch, r.installation, func(next Generation) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.local.Next = &localState{URL: r.URL, Epoch: r.epoch, Generation: next}
		return r.local.write(r.file(StateFile))
	})

	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = ""
	switch {
	case isFinal(err):
		r.superseded = err
	case err != nil:
		err = r.failed("read from", err)
	}
	if err != nil {
		r.problem = err.Error()
		return err
	}
	if mine.Name == found.Name && mine.URL == r.URL {
		return nil
	}

	// What waits to be sent belongs to the generation before, or to another place: under a URL
	// that was changed there may be an older copy of the one before. A whole copy is sent.
	next := localState{URL: r.URL, Epoch: r.epoch, Generation: found}
	if err := errors.Join(os.RemoveAll(r.file(waitingDir)), next.write(r.file(StateFile))); err != nil {
		return err
	}
	r.local = next
	select {
	case <-r.settled:
	default:
		close(r.settled)
	}
	if mine.Name == found.Name {
		r.Log.Info("replica.url was changed: a whole copy is sent", "url", r.URL, "generation", found.Name)
	} else {
		r.Log.Info("a generation of the replica begins", "url", r.URL, "generation", found.Name)
	}
	return nil
}

// Fence returns an error if this server was superseded. It looks only if the process was stopped
// since it last did, of which stops tells how often: what was asked of it or was due before it
// went on may be done by another server by now. While the storage does not answer, it lets all
// pass.
func (r *Replica) Fence(ctx context.Context, stops func() int) error {
	for n := int64(stops()); n > r.stops.Load(); n = int64(stops()) {
		r.fencing.Lock()
		if n > r.stops.Load() { // else somebody has looked meanwhile
			_ = r.look(context.WithoutCancel(ctx)) // it remembers what matters here
			r.stops.Store(n)
		}
		r.fencing.Unlock()
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	return r.superseded
}

// InForce returns an error unless the generation of this server is in force.
func (r *Replica) InForce(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return r.look(ctx)
}

// Run replicates until ctx ends, and after that until Stop: the last changes are made while
// the server stops. It ends with an error when this server was superseded.
func (r *Replica) Run(ctx context.Context) error {
	if r == nil {
		<-ctx.Done()
		return nil
	}
	r.ended = make(chan struct{})
	go r.supervise()
	go r.keepVerified(ctx)

	tick := time.Tick(often(time.Second, r.Interval))
	looked, removed := time.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}

		r.watchChild(ctx)
		if time.Since(looked) < often(lookEvery, r.Interval) {
			continue
		}
		looked = time.Now()
		err := r.look(ctx)
		if isFinal(err) {
			r.kill() // nothing more is sent
			return err
		}
		if err == nil && time.Since(removed) > removeEvery {
			removed = time.Now()
			go r.removeOld(ctx, removed.Add(-r.Keep-r.SnapshotEvery))
		}
	}
}

// removeOld deletes the generations that are not needed for any time after the given one.
func (r *Replica) removeOld(ctx context.Context, before time.Time) {
	now, _, err := readCurrent(ctx, r.store)
	if err == nil && now.Name == r.generation() {
		err = r.removeEarlier(ctx, now, before)
	}
	if err != nil {
		r.Log.Warn("old generations of the replica could not be deleted", "error", err)
	}
}

// Stop lets the child send the rest, and returns when it has ended. The database is closed by
// then.
func (r *Replica) Stop() {
	close(r.stopping)
	if r.ended == nil {
		return
	}

	r.mu.Lock()
	p := r.process
	r.mu.Unlock()
	if p != nil {
		p.signal(signalStop)
		kill := time.AfterFunc(stopPatience, p.kill)
		defer kill.Stop()
	}
	<-r.ended
}

// kill ends the child at once, and no other is started.
func (r *Replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.local = localState{}
	if r.process != nil {
		r.process.kill()
	}
}

// EmptyLog asks for a checkpoint, after which what was deleted is in the log no more than
// until it is written over. It reports whether the child will make it.
func (r *Replica) EmptyLog() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil || !r.last.Follows {
		return false
	}
	r.process.signal(signalCheckpoint)
	return true
}

// setCheckpoints says whether the writer makes checkpoints by itself.
func (r *Replica) setCheckpoints(ctx context.Context, on bool) error {
	if r.checkpoints == on {
		return nil
	}
	err := r.DB.SetCheckpoints(ctx, on)
	if err == nil {
		r.checkpoints = on
	}
	return err
}

// watchChild lets go when too much waits, and gives the writer its checkpoints back while
// there is no child.
func (r *Replica) watchChild(ctx context.Context) {
	r.mu.Lock()
	p, last, down := r.process, r.last, r.downSince
	r.mu.Unlock()

	isDown := !down.IsZero() && time.Since(down) > downTime
	if err := r.setCheckpoints(ctx, isDown); err != nil && !errors.Is(err, storage.ErrUnavailable) {
		r.Log.Warn("replica", "error", err)
	}
	if p != nil && last.Backlog > r.MaxBacklog && !p.lettingGo.Swap(true) {
		r.Log.Warn("the replica's storage has not taken changes for too long: they are dropped, and a whole copy "+
			"is sent when it answers. Until then the replica stays as it is",
			"backlog_bytes", last.Backlog, "max_backlog", r.MaxBacklog, "error", last.Error)
		p.kill()
	}
}
