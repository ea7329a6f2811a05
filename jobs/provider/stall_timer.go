package provider

import (
	"context"
	"io"
	"time"

	"confab/jobs/timeout"
)

// stallTimer cancels the transfer of a file that makes no progress. A limit on
// the whole time alone would be too short for a large file, or far too long for
// a dead connection. Each read of the body restarts the timer.
type stallTimer struct {
	timer  *timeout.Timer
	limit  time.Duration // the longest time without progress
	cancel context.CancelFunc
}

// withStallTimer returns a context that ends with errStalled when the transfer
// makes no progress. The caller must stop the timer.
func (c *Client) withStallTimer(ctx context.Context) (context.Context, *stallTimer) {
	ctx, expire := timeout.Context(ctx, transferLimit, context.DeadlineExceeded)
	ctx, cancel := context.WithCancelCause(ctx)

	t := &stallTimer{limit: max(c.timeout, stallTimeout)}
	t.timer = timeout.AfterFunc(t.limit, func() { cancel(errStalled) })
	t.cancel = func() { cancel(nil); expire() }
	return ctx, t
}

func (t *stallTimer) stop() {
	t.timer.Stop()
	t.cancel()
}

// trackSending wraps a request body. When the transport asks for the next chunk,
// the one before has been sent; after the last chunk the timer limits the wait
// for the answer.
func (t *stallTimer) trackSending(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		t.timer.Reset(t.limit)
		return r.Read(p)
	})
}

// trackReceiving wraps the body of an answer. Only the wait for the network
// counts, not what the caller does between two reads.
func (t *stallTimer) trackReceiving(r io.Reader) io.Reader {
	t.timer.Stop()
	return readerFunc(func(p []byte) (int, error) {
		t.timer.Reset(t.limit)
		defer t.timer.Stop()
		return r.Read(p)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
