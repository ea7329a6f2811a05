package replica

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

const (
	// followEvery is how often a standby looks for what was sent: see often.
	followEvery = time.Second
	// stalledAfter is how long a copy may stay behind before it is made afresh.
	stalledAfter = 30 * time.Second
)

var errStandbyStalled = errors.New("the copy did not get on for 30 s, and is made afresh")

// follower keeps a copy of one generation up to date. It stands between the engine and its
// client: how far the engine is shows in what it asks for, and nothing else says it. A look
// begins with a list of level 0 after the last file that is applied. Then, and only then, the
// copy is whole, and the engine can be ended.
type follower struct {
	litestream.ReplicaClient
	generation Generation
	file       string
	cancel     context.CancelFunc
	ended      chan struct{} // closed when the engine has ended
	err        error         // of the engine, once it has

	mu      sync.Mutex
	applied ltx.TXID  // the last in the copy; 0 while it is first made
	newest  ltx.TXID  // the last that was found
	began   time.Time // the look under way; zero before it has seen all there is
	clean   time.Time // all that was sent before is in the copy; zero before the first look
	gotOn   time.Time // when the copy last got nearer
	wanted  time.Time // when it was asked to end with all that was sent before; zero if not
}

// follow begins to copy a generation into a file that does not exist.
func (s *Standby) follow(ctx context.Context, g Generation, file string) (*follower, error) {
	client, err := s.client(g.Name)
	if err != nil {
		return nil, err
	}

	f := &follower{ReplicaClient: client, generation: g, file: file, ended: make(chan struct{}), gotOn: time.Now()}
	ctx, f.cancel = context.WithCancel(ctx)
	o := litestream.NewRestoreOptions()
	o.OutputPath, o.Follow, o.FollowInterval = file, true, often(followEvery, s.Interval)
	go func() {
		defer close(f.ended)
		defer f.cancel()
		if err := litestream.NewReplicaWithClient(nil, f).Restore(ctx, o); err != nil {
			f.err = s.explain("read from", err)
		}
	}()
	return f, nil
}

// LTXFiles implements litestream.ReplicaClient. The last file that is applied is listed once
// more: if nothing is found at all, the engine lists every other level, each second.
func (f *follower) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if level != 0 || seek == 0 { // the first copy, or a gap
		return f.ReplicaClient.LTXFiles(ctx, level, seek, useMetadata)
	}
	if f.beginLook(seek - 1) {
		f.cancel()
		return nil, context.Canceled
	}

	began := time.Now()
	files, err := f.ReplicaClient.LTXFiles(ctx, level, seek-1, useMetadata)
	if err != nil {
		return nil, err
	}
	all, err := ltx.SliceFileIterator(files)
	if err := errors.Join(err, files.Err()); err != nil {
		return nil, err
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.began = began
	for _, file := range all {
		f.newest = max(f.newest, file.MaxTXID)
	}
	return ltx.NewFileInfoSliceIterator(all), nil
}

// beginLook takes note that all up to a number is applied, and reports whether that is enough.
func (f *follower) beginLook(applied ltx.TXID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hasAll := !f.began.IsZero() && applied >= f.newest
	if hasAll {
		f.clean = f.began
	}
	if hasAll || applied > f.applied {
		f.gotOn = time.Now()
	}
	f.applied, f.began = applied, time.Time{}
	return hasAll && !f.wanted.IsZero() && f.clean.After(f.wanted)
}

// isStalled reports whether the copy has not got on for too long. The first one is made in a
// file beside it, which grows.
func (f *follower) isStalled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if made, err := os.Stat(f.file + ".tmp"); err == nil && time.Since(made.ModTime()) < stalledAfter {
		return false
	}
	return time.Since(f.gotOn) > stalledAfter
}

// cleanAt is when all that was sent before is in the copy; zero if there is none yet.
func (f *follower) cleanAt() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clean
}

// finish ends with all that was sent until now, and leaves a whole copy.
func (f *follower) finish(ctx context.Context) error {
	f.mu.Lock()
	f.wanted = time.Now()
	f.mu.Unlock()
	select {
	case <-f.ended:
		return f.err
	case <-time.After(stalledAfter):
		return errors.New("the copy could not catch up within 30 s")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends at once. The copy is of no use any more.
func (f *follower) stop() {
	f.cancel()
	<-f.ended
}
