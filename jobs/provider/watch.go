package provider

import (
	"context"
	"io"
	"time"
)

// stallTimer ends a transfer that makes no progress. A limit on the whole time alone
// would be too short for a large file or far too long for a dead connection.
type stallTimer struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelFunc
}

// withStallTimer starts a watch over a transfer. The caller must stop it.
func (c *Client) withStallTimer(ctx context.Context) (context.Context, *stallTimer) {
	ctx, expire := context.WithTimeout(ctx, transferLimit)
	ctx, give := context.WithCancelCause(ctx)
	w := &stallTimer{limit: max(c.timeout, stallTimeout)}
	w.timer = time.AfterFunc(w.limit, func() { give(errStalled) })
	w.cancel = func() { give(nil); expire() }
	return ctx, w
}

func (w *stallTimer) stop() {
	w.timer.Stop()
	w.cancel()
}

// trackSending watches a body on its way out: each chunk that is asked for shows
// that the one before has left, and after the last the answer is awaited.
func (w *stallTimer) trackSending(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		w.timer.Reset(w.limit)
		return r.Read(p)
	})
}

// trackReceiving watches a body on its way in. Only waiting for the network counts,
// not what the caller does between two reads.
func (w *stallTimer) trackReceiving(r io.Reader) io.Reader {
	w.timer.Stop()
	return readerFunc(func(p []byte) (int, error) {
		w.timer.Reset(w.limit)
		defer w.timer.Stop()
		return r.Read(p)
	})
}

// readerFunc is a reader made of a function.
type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
