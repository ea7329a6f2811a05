package stream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"confab/app/limit"
	"confab/storage"
)

// ErrStopping means that the server is about to stop.
var ErrStopping = errors.New("the server is stopping")

// Hub holds the open streams, wakes them and ends them.
type Hub struct {
	db        *storage.DB
	positions *positions
	timing    timing
	context   context.Context // ends when all streams have to
	stop      func()

	mu      sync.Mutex
	groups  map[int64]*group // by organization; those of all under 0
	classes []*Class
}

// timing is how long things take; tests have less patience.
type timing struct {
	wake  time.Duration // between two wakes, at least: under load there are thousands of commits a second
	read  time.Duration // between two reads of a stream, at least
	idle  time.Duration // between two times that a stream sends its position
	check time.Duration // between two times that streams are asked whether they are still allowed
	write time.Duration // that a client may take nothing
}

// New makes a hub for a database. Streams can be opened at once, and are woken while Run
// runs.
func New(db *storage.DB) (*Hub, error) {
	h := &Hub{
		db:     db,
		timing: timing{5 * time.Millisecond, 40 * time.Millisecond, 15 * time.Second, time.Second, 30 * time.Second},
		groups: make(map[int64]*group),
	}
	h.context, h.stop = context.WithCancel(context.Background())

	var epoch [8]byte
	err := db.View(context.Background(), func(rx *storage.Rx) (err error) {
		epoch, err = rx.Epoch()
		return err
	})
	if err != nil {
		return nil, err
	}
	h.positions, err = newPositions(db.DeriveKey("event position"), epoch)
	return h, err
}

// Run wakes streams until ctx ends, and then ends them all.
func (h *Hub) Run(ctx context.Context) error {
	defer h.Stop()

	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { h.checkStreams(ctx) })

	signal := h.db.EventSignal()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signal.C:
			h.wake(signal.Take())
		}

		select {
		case <-ctx.Done():
			return nil
		case <-time.After(h.timing.wake):
		}
	}
}

// Stop ends all streams and refuses new ones.
func (h *Hub) Stop() {
	h.stop()
	for _, s := range h.open() {
		s.end()
	}
}

// wake wakes the streams of organizations, or of all.
func (h *Hub) wake(organizations []int64, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	now := time.Now()
	if all {
		for _, g := range h.groups {
			g.wake(now)
		}
		return
	}
	for _, organization := range append(organizations, 0) {
		if g := h.groups[organization]; g != nil {
			g.wake(now)
		}
	}
}

func (h *Hub) open() (all []*Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()

	for _, g := range h.groups {
		for s := range g.streams {
			all = append(all, s)
		}
	}
	return all
}

// checkStreams ends the streams that are no longer allowed. Whether one is can mostly be
// decided from memory.
func (h *Hub) checkStreams(ctx context.Context) {
	tick := time.NewTicker(h.timing.check)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		for _, s := range h.open() {
			if s.Allowed != nil && !s.Allowed(ctx) {
				s.end()
			}
		}
	}
}

// ClassOptions are the bounds of a class.
type ClassOptions struct {
	Name            string
	Max             int // open at once; above that, one of the holder with the most is ended
	PerOrganization int // 0: Max
	PerPerson       int // 0: Max
}

// Class is a sort of streams, of which there may be so many.
type Class struct {
	ClassOptions
	places  *limit.EvictingSet
	dropped atomic.Int64
}

// NewClass makes a class of streams with limits of its own.
func (h *Hub) NewClass(o ClassOptions) *Class {
	c := &Class{ClassOptions: o, places: limit.NewEvictingSet(limit.SetOptions{
		Max:         int64(o.Max),
		GroupShare:  int64(o.PerOrganization),
		MemberShare: int64(o.PerPerson),
		Lasting:     true,
	})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.classes = append(h.classes, c)
	return c
}

// FullError means that a class has no place for another stream.
type FullError struct {
	Max int
	Of  string // whose bound it is: the person's, the organization's or the server's
}

func (e *FullError) Error() string { return "too many streams are open" }

// takePlace takes a place for a stream, if its class has one. A stream of an organization
// or a person that has more of them may be ended for it.
func (c *Class) takePlace(s *Stream) (err error) {
	s.place, err = c.places.Add(limit.Organization(s.Organization, s.Person), 1, s.end)
	switch {
	case errors.Is(err, limit.ErrShare) && c.PerPerson > 0:
		return &FullError{Max: c.PerPerson, Of: "person"}
	case errors.Is(err, limit.ErrShare):
		return &FullError{Max: c.PerOrganization, Of: "organization"}
	case err != nil:
		return &FullError{Max: c.Max, Of: "server"}
	}
	return nil
}

// add opens a stream if its class has a place.
func (h *Hub) add(s *Stream) error {
	if err := s.Class.takePlace(s); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.context.Err() != nil {
		s.place.Remove()
		return ErrStopping
	}

	if h.groups[s.Organization] == nil {
		h.groups[s.Organization] = &group{streams: make(map[*Stream]struct{})}
	}
	s.group = h.groups[s.Organization]
	s.group.streams[s] = struct{}{}
	return nil
}

func (h *Hub) remove(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()

	s.place.Remove()
	delete(s.group.streams, s)
	if len(s.group.streams) == 0 {
		delete(h.groups, s.Organization)
	}
}

// ClassStats are the figures of a class of streams.
type ClassStats struct {
	Name    string
	Open    int
	Dropped int64         // clients that took nothing
	Behind  time.Duration // how long the slowest has had something unsent
}

// Stats returns the figures of all classes.
func (h *Hub) Stats() (all []ClassStats) {
	h.mu.Lock()
	defer h.mu.Unlock()

	lags := make(map[*Class]time.Duration)
	for _, g := range h.groups {
		for s := range g.streams {
			lags[s.Class] = max(lags[s.Class], s.lag())
		}
	}
	for _, c := range h.classes {
		all = append(all, ClassStats{Name: c.Name, Open: int(c.places.Used()), Dropped: c.dropped.Load(), Behind: lags[c]})
	}
	return all
}
