package rest

import (
	"bytes"
	"io"
	"time"

	"confab/app/limit"
)

// The bodies that are in memory at the same time are bounded together, because any key can
// send many, and need not finish them. The first smallBody of each is free, which is more
// than nearly all requests have. A longer one waits until there is room for all of it, and
// keeps that until it was answered. One organization can have a part of the room only,
// which the largest body fits into: one that fills it keeps no other from theirs. When a
// few have filled all of the room, the slowest body of the largest holder is ended for an
// organization that has less.
const (
	smallBody      = 16 << 10
	maxBodies      = 64 << 20
	maxBodiesOfOne = 12 << 20
	bodyPatience   = 10 * time.Second
	// bodyGrace is how long a body may take, at least, while others wait for its room.
	bodyGrace = 2 * time.Second
)

// readWhole reads a body, or the one part of it that is kept in memory. It has at most size
// bytes.
func (s *Server) readWhole(r *Request, from io.Reader, size int64) ([]byte, error) {
	read := bytes.NewBuffer(make([]byte, 0, 2*bytes.MinRead))
	if _, err := io.CopyN(read, from, smallBody); err == io.EOF {
		return read.Bytes(), nil
	} else if err != nil {
		return nil, err
	}

	room, err := s.bodies.Acquire(r.HTTP.Context(), r.Holder(), size, limit.RequestOf(r.HTTP.Context()).EndReading)
	if err != nil {
		return nil, tooManyBodies(err)
	}
	r.bodyRoom = room

	read.Grow(int(size))
	_, err = read.ReadFrom(from)
	if room.Keep() {
		return nil, tooManyBodies(err)
	}
	return read.Bytes(), err
}

// tooManyBodies refuses a body for which there is no room.
func tooManyBodies(cause error) error {
	const busy = "Too many large requests at once. Please retry."
	return &Error{Code: ServiceUnavailable, Message: busy, RetryAfter: time.Second, Cause: cause}
}

// releaseBody returns the room of a body that was answered.
func (r *Request) releaseBody() {
	if r.bodyRoom != nil {
		r.bodyRoom.Release()
	}
}
