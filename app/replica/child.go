package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
	"golang.org/x/sys/unix"

	"confab/storage"
)

const (
	// checkpointPages is how long the log may be before the child asks for a turn.
	checkpointPages = 4000
	// turnPatience is how long the child waits for its turn, and the writer for its end.
	turnPatience = 2 * time.Second
	// stopPatience is how long the rest may take to be sent.
	stopPatience = 5 * time.Second
	// lockPatience is how long a child waits for the one of a server that was killed, which
	// sends its rest.
	lockPatience = 2 * stopPatience
	// firstAnswer is how long the storage may take to say how far it is.
	firstAnswer = 20 * time.Second
)

// child follows a database and sends its changes.
type child struct {
	task
	db      *litestream.DB
	replica *litestream.Replica
	out     io.Writer
	stop    chan struct{} // closed when the server says so, or is gone
	turns   chan struct{} // the writer waits
	asked   chan struct{} // a checkpoint is wanted
	new     chan struct{} // something waits to be sent

	backlog    int64 // bytes of files that wait to be sent
	measuredAt time.Time

	mu         sync.Mutex // guards the rest, and writes to out
	copied     []copied   // what waits, the oldest first, and at least the last
	sent       ltx.TXID   // the last that is known to be sent
	cleanAt    time.Time  // all that was committed before is sent
	uploadedAt time.Time
	problem    string
}

// copied says that all that was committed before a time is in the files up to a number.
type copied struct {
	last   ltx.TXID
	before time.Time
}

// RunChild is the child process. It ends when in does.
func RunChild(ctx context.Context, in io.Reader, out, log io.Writer) error {
	// An interrupt of the terminal goes to the server too, which then stops the child.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := PrepareProcess(); err != nil {
		return err
	}

	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return errors.Join(lines.Err(), errors.New("this command is for the server, which starts it by itself"))
	}
	c := &child{
		out: out, stop: make(chan struct{}),
		turns: make(chan struct{}, 1), asked: make(chan struct{}, 1), new: make(chan struct{}, 1),
	}
	if err := json.Unmarshal(lines.Bytes(), &c.task); err != nil {
		return err
	}

	go c.readSignals(lines)
	work := c.follow
	if c.VerifyKey != nil {
		work = c.verify
	}
	ended := make(chan error, 1)
	go func() { ended <- work(context.WithoutCancel(ctx)) }()

	select {
	case err := <-ended:
		return err
	case <-c.stop:
	}

	// The server would kill a child that takes longer, but it may have been killed itself.
	select {
	case err := <-ended:
		return err
	case <-time.After(stopPatience):
		return errors.New("the last changes were not sent in time")
	}
}

// readSignals passes on what the server says.
func (c *child) readSignals(lines *bufio.Scanner) {
	defer close(c.stop)
	for lines.Scan() {
		switch lines.Text() {
		case signalGo:
			notify(c.turns)
		case signalCheckpoint:
			notify(c.asked)
		case signalStop:
			return
		}
	}
}

// notify wakes up whoever waits for a channel, or will.
func notify(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// follow copies and sends what is committed, until the server stops the child.
func (c *child) follow(ctx context.Context) error {
	lock, err := lockFile(c.file(lockName))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := c.open(ctx); err != nil {
		return err
	}

	upload, endUploads := context.WithCancel(ctx)
	defer endUploads()
	uploads := make(chan struct{})
	go func() {
		defer close(uploads)
		c.upload(upload)
	}()

	c.copyUntilStop(ctx)

	// What a try that hangs was sending is sent again.
	endUploads()
	<-uploads
	ctx, cancel := context.WithTimeout(ctx, stopPatience-500*time.Millisecond)
	defer cancel()
	err = errors.Join(c.copy(ctx), c.send(ctx))
	c.report()

	// Nothing is closed: the last one to close a database empties its log, and then the
	// next copy would have to be a whole one.
	if err != nil {
		return fmt.Errorf("the last changes were not sent: %w", err)
	}
	return nil
}

// open prepares the engine. It watches nothing by itself, and makes no checkpoints.
func (c *child) open(ctx context.Context) error {
	client, err := c.client(c.Generation)
	if err != nil {
		return err
	}

	c.db = litestream.NewDB(storage.DatabaseFile(c.Dir))
	c.db.SetMetaPath(c.file(waitingDir))
	c.db.MonitorInterval, c.db.CheckpointInterval = 0, 0
	c.db.MinCheckpointPageN, c.db.TruncatePageN = 1<<30, 1<<30
	c.replica = litestream.NewReplicaWithClient(c.db, boundedClient{client})
	c.replica.MonitorEnabled = false
	c.db.Replica = c.replica

	store := litestream.NewStore([]*litestream.DB{c.db}, litestream.DefaultCompactionLevels)
	store.SnapshotInterval, store.SnapshotRetention = c.SnapshotEvery, c.Keep
	return store.Open(ctx)
}

// copyUntilStop copies the log at each interval.
func (c *child) copyUntilStop(ctx context.Context) {
	tick := time.Tick(c.Interval)
	for {
		wanted := false
		select {
		case <-c.stop:
			return
		case <-c.asked:
			wanted = true
		case <-tick:
		}

		err := c.copy(ctx)
		if err != nil {
			c.setProblem(err)
		} else {
			notify(c.new)
			c.checkpoint(ctx, wanted)
		}
		c.report()
	}
}

// copy copies the log into files that wait to be sent. The first time the engine compares
// these with what the storage has, for which it would wait as long as the storage likes.
func (c *child) copy(ctx context.Context) error {
	c.mu.Lock()
	isFirst := len(c.copied) == 0
	c.mu.Unlock()
	if isFirst {
		first, cancel := context.WithTimeout(ctx, firstAnswer)
		_, err := c.replica.MaxLTXFileInfo(first, 0)
		cancel()
		if err == nil {
			err = c.readLevels(ctx)
		}
		if err != nil {
			return c.explain("read from", err)
		}
	}

	began := time.Now()
	if err := c.db.Sync(ctx); err != nil {
		return err
	}
	at, err := c.db.Pos()
	if err != nil {
		return err
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.copied); n > 0 && c.copied[n-1].last == at.TXID {
		c.copied[n-1].before = began
	} else {
		c.copied = append(c.copied, copied{at.TXID, began})
	}
	c.noteSent()
	return nil
}

// readLevels lets the engine learn how far each level of compacted files is, which it remembers. When
// it compacts it would ask for that with a lock held that the copying needs.
func (c *child) readLevels(ctx context.Context) error {
	for _, level := range litestream.DefaultCompactionLevels[1:] {
		if _, err := c.db.MaxLTXFileInfo(ctx, level.Level); err != nil {
			return err
		}
	}
	_, err := c.db.MaxLTXFileInfo(ctx, litestream.SnapshotLevel)
	return err
}

// checkpoint copies the log into the database when it is long or when that is wanted, with
// the writer waiting. Without an answer it tries its luck.
func (c *child) checkpoint(ctx context.Context, wanted bool) {
	long := c.db.SyncDiagnostic().LastSyncedWALOffset > checkpointPages*int64(c.db.PageSize()+litestream.WALFrameHeaderSize)
	if !long && !wanted {
		return
	}

	select { // an old answer
	case <-c.turns:
	default:
	}
	c.write(report{Want: true})
	select {
	case <-c.turns:
	case <-c.stop:
		return
	case <-time.After(2 * turnPatience):
	}

	if err := c.db.Checkpoint(ctx, litestream.CheckpointModePassive); err != nil {
		slog.Warn("checkpoint", "error", err)
	}
	c.write(report{Done: true})
}

// setProblem remembers why something failed; nil that it did not.
func (c *child) setProblem(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problem = ""
	if err != nil {
		c.problem = err.Error()
	}
}

// report tells the server how far the child is.
func (c *child) report() {
	c.mu.Lock()
	sent := c.sent
	r := report{Follows: len(c.copied) > 0, UploadedAt: c.uploadedAt, Error: c.problem}
	r.InSync = r.Follows && sent >= c.copied[len(c.copied)-1].last
	if !c.cleanAt.IsZero() {
		r.Behind = time.Since(c.cleanAt) // the clock of the machine may be set meanwhile
	}
	c.mu.Unlock()

	if !r.InSync {
		r.Backlog = c.measure(sent)
	}
	c.write(r)
}

// write writes a line to the server. One that has ended is noticed elsewhere.
func (c *child) write(r report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = json.NewEncoder(c.out).Encode(r)
}

// measure is how many bytes wait in files after a transaction. There are thousands of files after an
// hour without the storage, so they are not measured at every interval.
func (c *child) measure(sent ltx.TXID) int64 {
	if time.Since(c.measuredAt) < 2*c.Interval {
		return c.backlog
	}
	c.backlog, c.measuredAt = 0, time.Now()

	entries, err := os.ReadDir(c.db.LTXLevelDir(0))
	if err != nil {
		return 0
	}
	for _, e := range entries {
		_, last, err := ltx.ParseFilename(e.Name())
		if err != nil || last <= sent {
			continue
		}
		if info, err := e.Info(); err == nil {
			c.backlog += info.Size()
		}
	}
	return c.backlog
}

// lockFile locks a file for this process, which frees it when it ends.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(began) > lockPatience {
			return nil, errors.Join(fmt.Errorf("%s: another process replicates this database: %w", filepath.Base(name), err), f.Close())
		}
	}
}
