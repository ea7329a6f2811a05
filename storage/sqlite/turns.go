package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// ErrCrowded means that an organization has so many searches waiting that it may
// not add one.
var ErrCrowded = errors.New("too many searches of the organization wait")

// InternalWork stands in the place of an organization where the server reads for itself, for
// jobs and metrics.
const InternalWork int64 = 0

// Turns shares a few places between organizations, so that one which asks for
// much holds up itself and not the others.
//
//   - Each organization has a line of its own, in which its own order holds.
//   - A place that becomes free goes to the organization that has the fewest; among
//     those with equally few to the one that has waited longest since it got one.
//   - Whoever has a place for long offers it now and then (yield), and loses it if
//     an organization with fewer places waits. It then waits at the head of its
//     line. So an organization with one wish waits for one step of another's,
//     however many the other has.
//   - Who has had a place for very long also offers it to its own line, and then waits
//     at the end of that.
//   - A line has a greatest length, so that nobody can make the server remember any
//     number of wishes. Internal work is a line too, but of any length, for it never
//     has many; and it leaves the last place to the organizations.
//
// mu guards everything. A wish that waits is a channel with room for its one answer:
// nil when it was given a place, which then is taken, or why it gets none.
type Turns struct {
	places     int // how many there are
	perLine    int // how many of them one organization may have
	maxWaiting int // how long a line may be; 0: any length

	mu     sync.Mutex
	taken  int
	lines  map[int64]*line // of all organizations that have a place or wait for one
	order  []*line         // those in which somebody waits; the one that got none for longest first
	closed bool
}

// line is what an organization has of the places, and what it waits for.
type line struct {
	organization int64
	running      int
	waiting      []chan error // the next one first
}

func NewTurns(places, maxWaiting int) *Turns {
	return &Turns{places: places, perLine: places, maxWaiting: maxWaiting, lines: make(map[int64]*line)}
}

// NewSingleTurns gives each organization one place.
func NewSingleTurns(maxWaiting int) *Turns {
	t := NewTurns(math.MaxInt, maxWaiting)
	t.perLine = 1
	return t
}

// Take waits for a place, which has to be given back by release.
func (t *Turns) Take(ctx context.Context, organization int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wish, err := t.ask(organization)
	if err != nil || wish == nil {
		return err
	}
	return t.wait(ctx, organization, wish)
}

// ask takes a place, or returns the wish for one.
func (t *Turns) ask(organization int64) (wish chan error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	l := t.lines[organization]
	if l == nil {
		l = &line{organization: organization}
	}

	switch {
	case t.closed:
		return nil, errClosed
	case t.hasRoom(l):
		t.lines[organization] = l
		t.taken++
		l.running++
		return nil, nil
	case t.maxWaiting > 0 && len(l.waiting) >= t.maxWaiting && organization != InternalWork:
		return nil, ErrCrowded
	}

	t.lines[organization] = l
	wish = make(chan error, 1)
	l.waiting = append(l.waiting, wish)
	if len(l.waiting) == 1 {
		t.order = append(t.order, l)
	}
	return wish, nil
}

// wait waits until a wish is answered, or takes it back when ctx ends.
func (t *Turns) wait(ctx context.Context, organization int64, wish chan error) error {
	select {
	case err := <-wish:
		return err
	case <-ctx.Done():
	}

	// It may have been answered at the same moment: then the place goes to the next.
	if !t.withdraw(organization, wish) {
		if err := <-wish; err == nil {
			t.Release(organization)
		}
	}
	return ctx.Err()
}

// withdraw takes back a wish, unless it was answered.
func (t *Turns) withdraw(organization int64, wish chan error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	l := t.lines[organization]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, wish)
	if i < 0 {
		return false
	}

	l.waiting = slices.Delete(l.waiting, i, i+1)
	t.forget(l)
	return true
}

// Release gives a place back.
func (t *Turns) Release(organization int64) {
	t.mu.Lock()
	defer t.mu.Unlock()

	l := t.lines[organization]
	l.running--
	t.taken--
	t.serve()
	t.forget(l)
}

// Yield offers a place to organizations that have fewer, and with long also to the own
// one, and waits for another place if it was wanted. When it returns an error, the place
// was given back.
func (t *Turns) Yield(ctx context.Context, organization int64, long bool) error {
	wish, err := t.offer(organization, long)
	if err != nil {
		t.Release(organization)
		return err
	}
	if wish == nil {
		return nil
	}
	return t.wait(ctx, organization, wish)
}

// offer gives a place away if somebody wants it, and returns the wish for the next.
func (t *Turns) offer(organization int64, long bool) (wish chan error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.closed {
		return nil, errClosed
	}

	l := t.lines[organization]
	isPoorer := func(other *line) bool { return other.running < l.running && t.mayTake(other) }
	if !slices.ContainsFunc(t.order, isPoorer) && (!long || len(l.waiting) == 0) {
		return nil, nil
	}

	wish = make(chan error, 1)
	place := 0
	if long {
		place = len(l.waiting)
	}
	l.waiting = slices.Insert(l.waiting, place, wish)
	t.moveToEnd(l) // since it was just served

	l.running--
	t.taken--
	t.serve()
	return wish, nil
}

// mayTake tells whether an organization may have one place more, if one is free.
func (t *Turns) mayTake(l *line) bool {
	if l.organization == InternalWork {
		return l.running < max(1, t.places-1)
	}
	return l.running < t.perLine
}

// hasRoom tells whether an organization may take a place now.
func (t *Turns) hasRoom(l *line) bool { return t.taken < t.places && t.mayTake(l) }

// serve gives the free places to those who wait.
func (t *Turns) serve() {
	for t.taken < t.places {
		var next *line
		for _, l := range t.order {
			if t.mayTake(l) && (next == nil || l.running < next.running) {
				next = l
			}
		}
		if next == nil {
			return
		}

		wish := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.running++
		t.taken++
		t.moveToEnd(next)
		wish <- nil
	}
}

// moveToEnd makes a line the last in order, if anybody waits in it.
func (t *Turns) moveToEnd(l *line) {
	t.order = slices.DeleteFunc(t.order, func(other *line) bool { return other == l })
	if len(l.waiting) > 0 {
		t.order = append(t.order, l)
	}
}

// forget drops a line in which nobody waits from the order, and one that has no place
// either altogether.
func (t *Turns) forget(l *line) {
	if len(l.waiting) > 0 {
		return
	}
	t.order = slices.DeleteFunc(t.order, func(other *line) bool { return other == l })
	if l.running == 0 {
		delete(t.lines, l.organization)
	}
}

// errClosed is what those get who come too late.
var errClosed = fmt.Errorf("%w: the database is closed", ErrUnavailable)

// Close refuses those who wait and all who come later. Who has a place keeps it until
// the next yield.
func (t *Turns) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.closed = true
	for _, l := range t.order {
		for _, wish := range l.waiting {
			wish <- errClosed
		}
		l.waiting = nil
	}
	t.order = nil
}
