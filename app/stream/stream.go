package stream

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"confab/app/limit"
	"confab/storage"
)

// Options say what a stream sends, to whom and how.
type Options struct {
	Class        *Class
	Organization int64  // 0 for all
	Person       string // whose stream it is; "" for no one in particular
	Filter       storage.EventFilter
	Replays      bool // send those too
	Begin        Begin
	Once         bool // end when the present events have been sent
	Format       Format
	Alone        bool // share no reads: the format is like no other
	// ReadInterval is the least time between two reads, if it is longer than that of all.
	ReadInterval time.Duration
	// Notices are sent beside the events; nil for none.
	Notices Notices
	// Closed is called when the stream has ended; nil for nothing to do.
	Closed func()
	// Allowed reports whether the stream may go on. It is asked once a second; nil is yes.
	Allowed func(context.Context) bool
}

// Stream is one open stream. Open makes it, and Serve or Close ends it.
type Stream struct {
	Options
	hub   *Hub
	group *group
	place *limit.Member   // of its class
	awake chan struct{}   // holds a value when there may be something to read
	news  chan struct{}   // holds a value when there may be notices
	since atomic.Int64    // since when something waits to be sent, in Unix nanoseconds; 0 if nothing does
	ended context.Context // done when end was called
	Close func()          // gives its place back, once; Serve calls it too

	// The fields below belong to Serve.
	start   start
	at      position  // up to here everything was looked at
	sent    position  // the last one that the client was sent
	removed int64     // up to where the client knows that events were removed
	read    time.Time // when it last read

	mu         sync.Mutex
	connection *http.ResponseController // nil unless it is being served
	isWriting  bool
	cancel     func() // ends ended
}

// Open opens a stream. The error is ErrPosition for a beginning that is none, a FullError
// if there are too many streams, and ErrStopping.
func (h *Hub) Open(ctx context.Context, o Options) (*Stream, error) {
	if o.Notices == nil {
		o.Notices = noNotices{}
	}
	s := &Stream{Options: o, hub: h, awake: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	s.ended, s.cancel = context.WithCancel(context.Background())
	if err := h.add(s); err != nil {
		return nil, err
	}
	s.Close = sync.OnceFunc(func() {
		h.remove(s)
		if o.Closed != nil {
			o.Closed()
		}
	})

	from, err := h.start(ctx, o)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.start, s.at, s.removed = from, from.position, from.removed
	s.sent.seq = -1 // none
	return s, nil
}

// lastWrite is how long a write may still take when the stream has to end.
const lastWrite = time.Second

// end makes the stream end, also if its client takes nothing. The deadline is for that
// alone: over HTTP/2 it would cut off a stream that ends by itself.
func (s *Stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Err() != nil {
		return
	}

	s.cancel()
	if s.isWriting {
		_ = s.connection.SetWriteDeadline(time.Now().Add(lastWrite)) // fails only if the client is gone
	}
}

// wake says that there may be something to read.
func (s *Stream) wake(now time.Time) {
	s.since.CompareAndSwap(0, now.UnixNano())
	select {
	case s.awake <- struct{}{}:
	default: // it knows already
	}
}

// lag is how long something has been waiting to be sent.
func (s *Stream) lag() time.Duration {
	since := s.since.Load()
	if since == 0 {
		return 0
	}
	return time.Since(time.Unix(0, since))
}
