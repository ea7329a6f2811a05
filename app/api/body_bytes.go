package api

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// The bodies that are in memory at the same time are bounded together, because any key can
// send many, and need not finish them. The first smallBody of each is free, which is more
// than nearly all requests have. A longer one waits until there is room for all of it, and
// keeps that until it was answered. One organization can have a part of the room only,
// which the largest body fits into: whoever fills it keeps nobody else from theirs.
const (
	smallBody      = 16 << 10
	maxBodies      = 64 << 20
	maxBodiesOfOne = 12 << 20
	bodyPatience   = 10 * time.Second
)

// bodyRoom is the room for large bodies.
type bodyRoom struct {
	patience time.Duration
	all      *semaphore.Weighted

	mu sync.Mutex
	of map[int64]*semaphore.Weighted // by the organization's id
}

func newBodyRoom() *bodyRoom {
	return &bodyRoom{patience: bodyPatience, all: semaphore.NewWeighted(maxBodies), of: make(map[int64]*semaphore.Weighted)}
}

// one is the part of an organization.
func (b *bodyRoom) one(organization int64) *semaphore.Weighted {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[organization] == nil {
		b.of[organization] = semaphore.NewWeighted(maxBodiesOfOne)
	}
	return b.of[organization]
}

// take waits for room.
func (b *bodyRoom) take(ctx context.Context, organization, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	one := b.one(organization)
	if err := one.Acquire(ctx, size); err != nil {
		return err
	}

	err := b.all.Acquire(ctx, size)
	if err != nil {
		one.Release(size)
	}
	return err
}

// give gives it back.
func (b *bodyRoom) give(organization, size int64) {
	b.all.Release(size)
	b.one(organization).Release(size)
}

// readWhole reads a body, or the one part of it that is kept in memory. It has at most size
// bytes.
func (s *Server) readWhole(r *request, from io.Reader, size int64) ([]byte, error) {
	read := bytes.NewBuffer(make([]byte, 0, 2*bytes.MinRead))
	if _, err := io.CopyN(read, from, smallBody); err == io.EOF {
		return read.Bytes(), nil
	} else if err != nil {
		return nil, err
	}

	if err := s.bodies.take(r.http.Context(), r.org.ID, size); err != nil {
		const busy = "Too many large bodies arrive at once. Please retry."
		return nil, &Error{Code: ServiceUnavailable, Message: busy, RetryAfter: time.Second, cause: err}
	}
	r.bodyRoom = size
	read.Grow(int(size))
	_, err := read.ReadFrom(from)
	return read.Bytes(), err
}

// releaseBody gives back the room of a body that was answered.
func (s *Server) releaseBody(r *request) {
	if r.bodyRoom > 0 {
		s.bodies.give(r.org.ID, r.bodyRoom)
	}
}
