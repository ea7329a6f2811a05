package provider

import (
	"context"
	"io"
	"time"
)

// watch ends a transfer that makes no progress. A limit on the whole time alone
// would be too short for a large file or far too long for a dead connection.
type watch struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelFunc
}

// watched starts a watch over a transfer. The caller must stop it.
func (c *Client) watched(ctx context.Context) (context.Context, *watch) {
	ctx, expire := context.WithTimeout(ctx, transferLimit)
	ctx, give := context.WithCancelCause(ctx)
	w := &watch{limit: max(c.timeout, stallTimeout)}
	w.timer = time.AfterFunc(w.limit, func() { give(errStalled) })
	w.cancel = func() { give(nil); expire() }
	return ctx, w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel()
}

// sending watches a body on its way out: each chunk that is asked for shows
// that the one before has left, and after the last the answer is awaited.
func (w *watch) sending(r io.Reader) io.Reader {
	return progress(func(p []byte) (int, error) {
		w.timer.Reset(w.limit)
		return r.Read(p)
	})
}

// receiving watches a body on its way in. Only waiting for the network counts,
// not what the caller does between two reads.
func (w *watch) receiving(r io.Reader) io.Reader {
	w.timer.Stop()
	return progress(func(p []byte) (int, error) {
		w.timer.Reset(w.limit)
		defer w.timer.Stop()
		return r.Read(p)
	})
}

// progress is a reader made of a function.
type progress func([]byte) (int, error)

// Read implements io.Reader.
func (f progress) Read(p []byte) (int, error) { return f(p) }
