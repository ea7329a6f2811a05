package stream

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// group is the streams of one organization, or those of all. Streams that are woken
// together mostly wait at the same place for the same: one of them reads and renders, and
// the others take what it made, so that many who look on cost little more than one.
//
// Reads are shared within an interval, which begins with the first read after the last one.
// That first read sees all there is, and the others see no further, so that all come to the
// same place, even those that were at different ones before. A stream may be sent a window
// although there was a wake since its interval began: it then stays awake, and reads again in
// the next one.
type group struct {
	streams map[*Stream]struct{} // guarded by Hub.mu

	mu    sync.Mutex
	woken time.Time // the last time
	first *sharedRead
	reads map[windowKey]*sharedRead // of the interval
}

// windowKey is what has to be the same for two streams to be sent the same.
type windowKey struct {
	at      position
	removed int64
	replays bool
	filter  string
	format  string
}

// sharedRead is one read, under way or done. The window is set when done is closed.
type sharedRead struct {
	interval time.Time   // when its interval began
	first    *sharedRead // of the interval; nil for the first itself
	done     chan struct{}
	window   window
	err      error
}

// wake wakes all streams of the group. Hub.mu is held.
func (g *group) wake(now time.Time) {
	g.mu.Lock()
	g.woken = now
	g.mu.Unlock()

	for s := range g.streams {
		s.wake(now)
	}
}

func (g *group) wokenSince(t time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.woken.Before(t)
}

// nextWindow reads what follows the position of the stream, or takes it from another
// stream that has just read it. A stream that sends a gap of its own, ends or has a format of its
// own reads alone.
func (s *Stream) nextWindow(ctx context.Context) (window, error) {
	if s.start.gap != "" || s.Once || s.Alone {
		return s.readWindow(ctx, math.MaxInt64)
	}

	filter := fmt.Sprint(s.Filter.Types, s.Filter.PhoneNumberID, s.Filter.Of)
	r, isOurs := s.group.join(windowKey{s.at, s.removed, s.Replays, filter, s.Format.ContentType()}, s.hub.timing.read)
	if isOurs {
		s.share(r)
	}

	select {
	case <-r.done:
	case <-ctx.Done():
		return window{}, ctx.Err()
	case <-s.ended.Done():
		return window{}, errEnded
	}
	if s.group.wokenSince(r.interval) {
		s.wake(time.Now())
	}
	if r.err != nil && s.hub.context.Err() != nil {
		return window{}, errEnded // broken off by a stop, which is about to end the stream
	}
	return r.window, r.err
}

// join returns a read that another stream does or has just done, or one that the caller
// has to do.
func (g *group) join(key windowKey, interval time.Duration) (r *sharedRead, isOurs bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	if now := time.Now(); g.first == nil || now.Sub(g.first.interval) >= interval {
		g.first = &sharedRead{interval: now, done: make(chan struct{})}
		g.reads = map[windowKey]*sharedRead{key: g.first}
		return g.first, true
	}
	if r := g.reads[key]; r != nil {
		return r, false
	}
	r = &sharedRead{interval: g.first.interval, first: g.first, done: make(chan struct{})}
	g.reads[key] = r
	return r, true
}

// share does a read that others may wait for, so it goes on if this client leaves.
func (s *Stream) share(r *sharedRead) {
	defer close(r.done)

	limit := int64(math.MaxInt64)
	if r.first != nil {
		<-r.first.done
		if r.first.err == nil {
			limit = max(r.first.window.last, s.at.seq)
		}
	}
	r.window, r.err = s.readWindow(s.hub.context, limit)
}
