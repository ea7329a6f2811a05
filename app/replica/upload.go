package replica

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
)

const (
	// stallTime is how long a file may take to be sent, and a part more for its size.
	stallTime = 30 * time.Second
	stallRate = 128 << 10 // bytes in a second
	// listTime is how long the storage may take for a page of a list.
	listTime = 20 * time.Second
	// retryPause is how long the child waits after a try that failed.
	retryPause    = 500 * time.Millisecond
	maxRetryPause = 5 * time.Second
)

// upload sends what waits until ctx ends, beside the copying, which goes on while the storage
// does not answer.
func (c *child) upload(ctx context.Context) {
	pause := retryPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.new:
		}

		err := c.send(ctx)
		if ctx.Err() != nil {
			return
		}
		c.setProblem(err)
		if err == nil {
			pause = retryPause
			continue
		}

		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetryPause)
		notify(c.new)
	}
}

var errStalled = errors.New("the storage does not answer")

// send sends all that waits. It gives up when a file takes too long: a connection that hangs
// would otherwise be waited for.
func (c *child) send(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go c.watchProgress(ended, func() { cancel(errStalled) })

	err := c.replica.Sync(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return c.explain("written to", err)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteSent()
	return nil
}

// watchProgress calls stalled when no file was sent for too long.
func (c *child) watchProgress(ended <-chan struct{}, stalled func()) {
	tick := time.Tick(time.Second)
	var last ltx.TXID
	since := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick:
		}

		at := c.replica.Pos().TXID
		if at != last {
			last, since = at, time.Now()
			c.mu.Lock()
			c.noteSent()
			c.mu.Unlock()
		}
		allowed := stallTime
		if info, err := os.Stat(c.db.LTXPath(0, at+1, at+1)); err == nil {
			allowed += time.Duration(info.Size()/stallRate) * time.Second
		}
		if time.Since(since) > allowed {
			stalled()
			return
		}
	}
}

// noteSent remembers how far all is sent. The engine forgets it after a failure. The caller
// holds mu.
func (c *child) noteSent() {
	if at := c.replica.Pos().TXID; at > c.sent {
		if c.sent > 0 || len(c.copied) > 0 {
			c.uploadedAt = time.Now()
		}
		c.sent = at
	}
	for i, one := range c.copied {
		if one.last > c.sent {
			c.copied = c.copied[i:]
			return
		}
		c.cleanAt = one.before
	}
	c.copied = c.copied[max(0, len(c.copied)-1):]
}

// boundedClient bounds how long the storage may take for a list. The engine compacts beside the
// copying and would wait a day for one, with a lock held that the copying needs.
type boundedClient struct{ litestream.ReplicaClient }

// LTXFiles implements litestream.ReplicaClient. The storage is asked while the list is read.
func (c boundedClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(listTime, cancel)
	defer timer.Stop()
	list, err := c.ReplicaClient.LTXFiles(ctx, level, seek, useMetadata)
	if err != nil {
		cancel()
		return nil, err
	}
	return boundedList{list, cancel}, nil
}

type boundedList struct {
	ltx.FileIterator
	cancel context.CancelFunc
}

// Next implements ltx.FileIterator.
func (l boundedList) Next() bool {
	timer := time.AfterFunc(listTime, l.cancel)
	defer timer.Stop()
	return l.FileIterator.Next()
}

// Close implements ltx.FileIterator.
func (l boundedList) Close() error {
	defer l.cancel()
	return l.FileIterator.Close()
}
