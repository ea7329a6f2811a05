package simulator

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxStreams     = 32  // open at the same time
	streamBacklog  = 256 // events that a slow reader may be behind
	streamBeat     = 15 * time.Second
	streamPatience = 10 * time.Second // how long one write may take
)

// streamHub passes on what happens to those who follow GET /_sim/stream.
//
// Events are rendered once, by who publishes them, and only while somebody follows. A
// follower has a queue; whoever lets it run full has missed something, which it is told
// with the event "gap" when it reads on, and reads all again. So nobody who is slow holds
// up the simulator, and memory is bounded.
type streamHub struct {
	followed  atomic.Bool
	mu        sync.Mutex
	followers map[*follower]bool
	stopped   bool
}

// follower is one reader of the stream.
type follower struct {
	events chan []byte
	missed atomic.Bool
}

// publish tells the followers of something. The view is built only if there are any. It
// may be called with or without the lock of the server.
func (s *Server) publish(kind string, view func() any) {
	if !s.streams.followed.Load() {
		return
	}

	data, err := marshal(view())
	if err != nil {
		s.log.Error("encode event", "kind", kind, "error", err)
		return
	}
	s.streams.send(streamEvent(kind, data))
}

// streamEvent is an event as it is sent. JSON has no line breaks in it.
func streamEvent(kind string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data)
}

func (h *streamHub) send(event []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.followers {
		select {
		case f.events <- event:
		default:
			f.missed.Store(true)
		}
	}
}

// join adds a follower; nil if there are enough, or the streams have ended.
func (h *streamHub) join() *follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.followers) >= maxStreams || h.stopped {
		return nil
	}

	f := &follower{events: make(chan []byte, streamBacklog)}
	if h.followers == nil {
		h.followers = map[*follower]bool{}
	}
	h.followers[f] = true
	h.followed.Store(true)
	return f
}

func (h *streamHub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers[f] {
		delete(h.followers, f)
		close(f.events)
	}
	h.followed.Store(len(h.followers) > 0)
}

// StopStreams ends the streams, which would keep their server from stopping.
func (s *Server) StopStreams() {
	h := &s.streams
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	for f := range h.followers {
		delete(h.followers, f)
		close(f.events)
	}
	h.followed.Store(false)
}

// serveStream handles GET /_sim/stream: messages and their statuses, people, settings,
// faults, templates and calls as they change, as server-sent events.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	f := s.streams.join()
	if f == nil {
		w.Header().Set("Retry-After", "5")
		why := fmt.Sprintf("There are %d streams open, which is the most.", maxStreams)
		writeControlError(w, &controlError{http.StatusServiceUnavailable, why, ""})
		return
	}
	defer s.streams.leave(f)

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if r.ProtoMajor == 1 {
		h.Set("Connection", "close") // otherwise a browser keeps it for a while when the page is left
	}

	out := http.NewResponseController(w)
	out.SetReadDeadline(time.Time{}) // a limit of the listener is for requests that end
	write := func(text []byte) bool {
		out.SetWriteDeadline(time.Now().Add(streamPatience)) // where there is one
		_, err := w.Write(text)
		return err == nil && out.Flush() == nil
	}
	if !write([]byte("retry: 1000\n\n")) {
		return
	}
	s.follow(r, f, write)
}

// follow writes the events of a follower until either side ends.
func (s *Server) follow(r *http.Request, f *follower, write func([]byte) bool) {
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()

	for {
		var text []byte
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case event, open := <-f.events:
			if !open {
				return
			}
			text = event
		case <-beat.C:
			text = []byte(":\n\n")
		}

		if f.missed.Swap(false) {
			text = append(streamEvent("gap", []byte("{}")), text...)
		}
		if !write(text) {
			return
		}
	}
}
