package stream

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// group is the streams of one organization, or those of all. Streams that are woken
// together mostly wait at the same place for the same: one of them reads, and the others
// take what it found, so that many who look on cost little more than one.
//
// version counts the wakes. A window belongs to the version before the read. A stream
// may take it although there was a wake since: it then stays awake, and reads again after
// the readInterval. A window older than that interval is not taken.
//
// The read limit is how far the first read of an interval saw. The others see no further, so
// that all come to the same place, even those that were at different ones before.
type group struct {
	streams map[*Stream]struct{} // guarded by Hub.mu
	version atomic.Int64

	mu        sync.Mutex
	reads     map[windowKey]*sharedRead
	readLimit readLimit
}

// readLimit is the newest event that streams send for a moment.
type readLimit struct {
	last    int64
	version int64
	at      time.Time
}

// windowKey is what has to be the same for two streams to read the same.
type windowKey struct {
	at      position
	removed int64
	replays bool
	filter  string
}

// sharedRead is one read, under way or done. Its fields are set when done is closed.
type sharedRead struct {
	done    chan struct{}
	version int64
	began   time.Time
	window  window
	err     error
}

// wake wakes all streams of the group. Hub.mu is held.
func (g *group) wake(now time.Time) {
	g.version.Add(1)
	for s := range g.streams {
		s.wake(now)
	}
}

// key is what the stream reads next; false if it reads alone, because it sends a gap that
// is its own, or ends.
func (s *Stream) key() (windowKey, bool) {
	filter := fmt.Sprint(s.Filter.Types, s.Filter.PhoneNumberID, s.Filter.Of)
	return windowKey{s.at, s.removed, s.Replays, filter}, s.start.gap == "" && !s.Once
}

// nextWindow reads what follows the position of the stream, or takes it from another
// stream that has just read it.
func (s *Stream) nextWindow(ctx context.Context) (window, error) {
	key, isShared := s.key()
	if !isShared {
		return s.readWindow(ctx, math.MaxInt64)
	}

	version := s.group.version.Load()
	r, isOurs := s.group.join(key, s.hub.timing.read)
	if isOurs {
		s.share(r)
	}

	select {
	case <-r.done:
	case <-ctx.Done():
		return window{}, ctx.Err()
	case <-s.ended:
		return window{}, errEnded
	}
	if r.version < version {
		s.wake(time.Now())
	}
	if r.err != nil && s.hub.context.Err() != nil {
		return window{}, errEnded // broken off by a stop, which is about to end the stream
	}
	return r.window, r.err
}

// share does a read that others may wait for, so it goes on if this client leaves.
func (s *Stream) share(r *sharedRead) {
	defer func() {
		r.window.texts = &texts{byName: make(map[string][]byte)}
		close(r.done)
	}()

	limit, isFresh := s.group.freshReadLimit(s.hub.timing.read)
	if isFresh {
		r.version = min(r.version, limit.version)
		r.window, r.err = s.readWindow(s.hub.context, max(limit.last, s.at.seq))
		return
	}

	r.window, r.err = s.readWindow(s.hub.context, math.MaxInt64)
	if r.err == nil {
		s.group.setReadLimit(readLimit{last: r.window.last, version: r.version, at: r.began}, s.hub.timing.read)
	}
}

// freshReadLimit is the read limit, if it is not too old.
func (g *group) freshReadLimit(fresh time.Duration) (readLimit, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.readLimit, time.Since(g.readLimit.at) < fresh
}

// setReadLimit sets the read limit, unless another stream has just done it.
func (g *group) setReadLimit(limit readLimit, fresh time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if limit.at.Sub(g.readLimit.at) >= fresh {
		g.readLimit = limit
	}
}

// join returns a read that another stream does or has just done, or one that the caller
// has to do.
func (g *group) join(key windowKey, fresh time.Duration) (r *sharedRead, isOurs bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	now := time.Now()
	if r := g.reads[key]; r != nil && now.Sub(r.began) < fresh {
		return r, false
	}
	g.prune(now, fresh)
	r = &sharedRead{done: make(chan struct{}), version: g.version.Load(), began: now}
	g.reads[key] = r
	return r, true
}

// forget drops windows that no stream will take any more.
func (g *group) forget(fresh time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prune(time.Now(), fresh)
}

// prune is forget for those who hold mu.
func (g *group) prune(now time.Time, fresh time.Duration) {
	for key, r := range g.reads {
		if now.Sub(r.began) >= fresh {
			delete(g.reads, key)
		}
	}
}
