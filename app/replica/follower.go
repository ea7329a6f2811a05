package replica

import (
	"context"
	"errors"
	"io"
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
	cancel     context.CancelFunc
	ended      chan struct{} // closed when the engine has ended
	err        error         // of the engine, once it has

	mu       sync.Mutex
	applied  ltx.TXID  // the last in the copy; 0 while it is first made
	newest   ltx.TXID  // the last that the look under way has found
	isListed bool      // the look under way has seen all there is
	began    time.Time // the look under way
	clean    time.Time // all that was sent before is in the copy; zero before the first look
	gotOn    time.Time // when the copy last got nearer
	wanted   time.Time // when it was asked to end with all that was sent before; zero if not
}

// follow begins to copy a generation into a file that does not exist.
func (s *Standby) follow(ctx context.Context, g Generation, file string) (*follower, error) {
	client, err := s.client(g.Name)
	if err != nil {
		return nil, err
	}

	f := &follower{ReplicaClient: client, generation: g, ended: make(chan struct{}), gotOn: time.Now()}
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
	files, err := f.ReplicaClient.LTXFiles(ctx, level, seek-1, useMetadata)
	return &listing{files, f}, err
}

// beginLook takes note that all up to a number is applied, and reports whether that is enough.
func (f *follower) beginLook(applied ltx.TXID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hasAll := f.isListed && applied >= f.newest
	if hasAll {
		f.clean = f.began
	}
	if hasAll || applied > f.applied {
		f.gotOn = time.Now()
	}
	f.applied, f.began, f.isListed = applied, time.Now(), false
	return hasAll && !f.wanted.IsZero() && f.clean.After(f.wanted)
}

// listing is what a look finds.
type listing struct {
	ltx.FileIterator
	f *follower
}

// Next implements ltx.FileIterator.
func (l *listing) Next() bool {
	more := l.FileIterator.Next()
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if more {
		l.f.newest = max(l.f.newest, l.Item().MaxTXID)
	} else {
		l.f.isListed = l.Err() == nil
	}
	return more
}

// OpenLTXFile implements litestream.ReplicaClient. The first copy gets on with every byte.
func (f *follower) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	body, err := f.ReplicaClient.OpenLTXFile(ctx, level, first, last, offset, size)
	if err != nil {
		return nil, err
	}
	return &firstCopy{body, f}, nil
}

type firstCopy struct {
	io.ReadCloser
	f *follower
}

// Read implements io.Reader.
func (c *firstCopy) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if c.f.applied == 0 && n > 0 {
		c.f.gotOn = time.Now()
	}
	return n, err
}

// isStalled reports whether the copy has not got on for too long.
func (f *follower) isStalled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
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
