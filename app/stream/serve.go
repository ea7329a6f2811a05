package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"confab/app/limit"
)

// pieceBytes is how much is written at once. A client that takes a piece in time is not
// dropped.
const pieceBytes = 32 << 10

// closeTimeout is how long the end of an answer may take.
const closeTimeout = 5 * time.Second

var errEnded = errors.New("the stream has ended")

// SetHeaders sets the headers of a stream, which HEAD shows too.
func SetHeaders(h http.Header, f Format) {
	h.Set("Content-Type", f.ContentType())
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
}

// Serve writes the stream until it ends. begun is called when the headers were sent.
func (s *Stream) Serve(w http.ResponseWriter, r *http.Request, begun func()) {
	defer s.Close()
	limit.RequestOf(r.Context()).LeavePlace()
	connection := s.attach(w)
	defer ignoreBody(w, r, connection)()
	limitSilence(r, s.hub.timing.write)

	SetHeaders(w.Header(), s.Format)
	w.WriteHeader(http.StatusOK)
	err := connection.Flush()
	begun()
	if err == nil {
		err = s.run(r.Context(), w)
	}

	if errors.Is(err, os.ErrDeadlineExceeded) && s.ended.Err() == nil {
		s.Class.dropped.Add(1)
	}
	if errors.Is(err, errEnded) {
		s.writeEnding(w)
	}
	s.detach(err == nil || errors.Is(err, errEnded))
}

// attach lifts the limits of the listener, which are for requests that end.
func (s *Stream) attach(w http.ResponseWriter) *http.ResponseController {
	s.mu.Lock()
	defer s.mu.Unlock()

	// They fail only if the client is gone, which is noticed by what follows.
	s.connection = http.NewResponseController(w)
	_ = s.connection.SetReadDeadline(time.Time{})
	_ = s.connection.SetWriteDeadline(time.Time{})
	return s.connection
}

// ignoreBody makes the server neither begin nor end a stream with waiting for a body that
// its request has announced. A client that never sends it would hold a stream that has not begun,
// and that nothing ends. The result is for the end.
func ignoreBody(w http.ResponseWriter, r *http.Request, connection *http.ResponseController) (end func()) {
	if r.ProtoMajor != 1 || r.ContentLength == 0 {
		return func() {}
	}

	w.Header().Set("Connection", "close")
	return func() { _ = connection.SetReadDeadline(time.Now()) }
}

// detach keeps the hub from the connection, which may have another request soon. A client
// that took what it was sent gets time to see a proper end.
func (s *Stream) detach(properly bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if properly {
		_ = s.connection.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	s.connection, s.isWriting = nil, false
}

// run sends the events there are and then those that come.
func (s *Stream) run(ctx context.Context, w io.Writer) error {
	idle := time.NewTicker(s.hub.timing.idle)
	defer idle.Stop()

	if err := s.write(w, s.Notices.AppendOpening(nil)); err != nil {
		return err
	}
	if err := s.catchUp(ctx, w); err != nil {
		return err
	}
	if s.sent != s.at {
		if err := s.writePosition(w, s.Format.AppendOpening); err != nil {
			return err
		}
	}

	for !s.Once {
		why, err := s.wait(ctx, idle.C)
		if err == nil && why != hasNotices {
			err = s.catchUp(ctx, w)
		}
		if err == nil {
			err = s.write(w, s.Notices.AppendNew(nil))
		}
		if err == nil && why == isIdle {
			err = s.writePosition(w, s.Format.AppendIdle)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type wakeReason int

const (
	isAwake    wakeReason = iota // there may be something to read
	hasNotices                   // there may be notices
	isIdle                       // it is time to send the position
)

// wait waits until there is a reason to go on. It lets some time pass between two reads.
func (s *Stream) wait(ctx context.Context, idle <-chan time.Time) (wakeReason, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.ended.Done():
		return 0, errEnded
	case <-idle:
		return isIdle, nil
	case <-s.news:
		return hasNotices, nil
	case <-s.awake:
	}

	rest := max(s.hub.timing.read, s.ReadInterval) - time.Since(s.read)
	if rest <= 0 {
		return isAwake, nil
	}
	pause := time.NewTimer(rest)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.ended.Done():
		return 0, errEnded
	case <-pause.C:
		return isAwake, nil
	}
}

// catchUp sends window after window until nothing is left.
func (s *Stream) catchUp(ctx context.Context, w io.Writer) error {
	for {
		// Events from here on are read now, or wake the stream again.
		select {
		case <-s.awake:
		default:
		}
		s.since.CompareAndSwap(0, time.Now().UnixNano())

		next, err := s.nextWindow(ctx)
		s.read = time.Now()
		if err != nil {
			return err
		}
		s.start.gap = ""
		if len(next.text) > 0 {
			s.sent = next.sent
			if err := s.write(w, next.text); err != nil {
				return err
			}
		}

		if s.at, s.removed = next.end, next.removed; !next.hasMore {
			s.since.Store(0)
			return nil
		}
	}
}

// writePosition writes what append appends about the position of the stream.
func (s *Stream) writePosition(w io.Writer, appendTo func(b []byte, position string) []byte) error {
	s.sent = s.at
	return s.write(w, appendTo(nil, s.mark(s.at)))
}

func (s *Stream) mark(at position) string {
	return string(s.hub.positions.append(nil, at))
}

// write writes piece after piece, and drops a client that takes nothing.
func (s *Stream) write(w io.Writer, b []byte) error {
	for len(b) > 0 {
		connection, err := s.extend(s.hub.timing.write)
		if err != nil {
			return err
		}

		n := min(len(b), pieceBytes)
		if _, err := w.Write(b[:n]); err != nil {
			return err
		}
		if b = b[n:]; len(b) > 0 {
			continue
		}
		if err := connection.Flush(); err != nil {
			return err
		}
	}

	_, err := s.extend(0) // HTTP/2 would end the stream later, even if nothing is written
	return err
}

// extend gives the client so much time to take something, or with 0 any time.
func (s *Stream) extend(by time.Duration) (*http.ResponseController, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Err() != nil {
		return nil, errEnded
	}

	var deadline time.Time
	if s.isWriting = by > 0; s.isWriting {
		deadline = time.Now().Add(by)
	}
	_ = s.connection.SetWriteDeadline(deadline) // a client that is gone is noticed by the write
	return s.connection, nil
}
