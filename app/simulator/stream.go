package simulator

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxStreams         = 32  // open at the same time
	streamBacklog      = 256 // events that may wait for a slow reader
	streamHeartbeat    = 15 * time.Second
	streamWriteTimeout = 10 * time.Second // how long one write may take
)

// streamHub passes events on to the subscribers of GET /_sim/stream.
//
// Events are encoded once, by the code that publishes them, and only while there are
// subscribers. A subscriber has a queue; one that lets it run full misses events, gets
// the event "gap" when it reads on, and must read everything again. So a slow reader
// does not delay the simulator, and memory is bounded.
type streamHub struct {
	mu          sync.Mutex
	subscribers map[*subscriber]bool

	ctx  context.Context // ends with all streams
	stop context.CancelFunc
}

type subscriber struct {
	events chan []byte
	missed atomic.Bool
}

// publish sends an event to the subscribers. The view is built only if there are any. It
// may be called with or without the lock of the server.
func (s *Server) publish(kind string, view func() any) {
	h := &s.streams
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subscribers) == 0 {
		return
	}

	event := streamEvent(kind, marshal(view()))
	for sub := range h.subscribers {
		select {
		case sub.events <- event:
		default:
			sub.missed.Store(true)
		}
	}
}

// streamEvent is an event as it is sent. JSON has no line breaks in it.
func streamEvent(kind string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data)
}

// subscribe adds a subscriber; nil if there are enough, or the streams have ended.
func (h *streamHub) subscribe() *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subscribers) >= maxStreams || h.ctx.Err() != nil {
		return nil
	}

	sub := &subscriber{events: make(chan []byte, streamBacklog)}
	h.subscribers[sub] = true
	return sub
}

func (h *streamHub) unsubscribe(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscribers, sub)
}

// StopStreams ends the streams, which would keep their server from stopping.
func (s *Server) StopStreams() { s.streams.stop() }

// serveStream handles GET /_sim/stream: messages and their statuses, people, settings,
// faults, templates and calls as they change, as server-sent events.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	sub := s.streams.subscribe()
	if sub == nil {
		w.Header().Set("Retry-After", "5")
		why := fmt.Sprintf("There are %d streams open, which is the most.", maxStreams)
		writeControlError(w, refused(http.StatusServiceUnavailable, why))
		return
	}
	defer s.streams.unsubscribe(sub)

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
		out.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // where there is one
		_, err := w.Write(text)
		return err == nil && out.Flush() == nil
	}
	if !write([]byte("retry: 1000\n\n")) {
		return
	}
	s.writeEvents(r, sub, write)
}

// writeEvents writes the events of a subscriber until either side ends.
func (s *Server) writeEvents(r *http.Request, sub *subscriber, write func([]byte) bool) {
	beat := time.NewTicker(streamHeartbeat)
	defer beat.Stop()

	for {
		var text []byte
		select {
		case <-r.Context().Done():
			return
		case <-s.streams.ctx.Done():
			return
		case text = <-sub.events:
		case <-beat.C:
			text = []byte(":\n\n")
		}

		if sub.missed.Swap(false) {
			text = append(streamEvent("gap", []byte("{}")), text...)
		}
		if !write(text) {
			return
		}
	}
}
