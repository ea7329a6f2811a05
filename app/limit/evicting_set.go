package limit

import (
	"errors"
	"sync"
)

var (
	// ErrExhausted means that there is no room, and no one who holds more.
	ErrExhausted = errors.New("too much at once")
	// ErrShare means that the holder has all that it may have.
	ErrShare = errors.New("the holder's share is used up")
)

// SetOptions are the bounds of an EvictingSet. All are in the unit of the weights.
type SetOptions struct {
	Max int64
	// Reserve is what the known leave of Max to those who have not shown yet who they are.
	Reserve int64
	// GroupShare and MemberShare are the most that one group and one member of a group may
	// have; 0 is Max.
	GroupShare, MemberShare int64
	// Lasting is for what lasts and comes back when it was ended. A newcomer then ends only
	// things of a larger holder, and is otherwise refused: else all would end one another
	// for ever.
	Lasting bool
}

// EvictingSet is a bounded set of open things. Beyond its bound, a newcomer ends something of the
// largest holder: see the package.
type EvictingSet struct {
	SetOptions
	mu sync.Mutex
	ledger
}

// NewEvictingSet makes an empty set.
func NewEvictingSet(o SetOptions) *EvictingSet {
	return &EvictingSet{SetOptions: o, ledger: newLedger()}
}

// Member is one thing that can be in a set.
type Member struct {
	set *EvictingSet
	hold
}

// NewMember makes something that can be added, removed and added again. Each time that it is
// in the set, the set may call end once, from any goroutine.
func (s *EvictingSet) NewMember(end func()) *Member {
	return &Member{set: s, hold: hold{end: end}}
}

// Add adds something for good: see NewMember. The error is ErrShare or ErrExhausted: then it
// was not added.
func (s *EvictingSet) Add(h Holder, weight int64, end func()) (*Member, error) {
	m := s.NewMember(end)
	return m, m.Add(h, weight)
}

// Add adds a member that is not in the set. The error is that of EvictingSet.Add.
func (m *Member) Add(h Holder, weight int64) error {
	return m.change(func() {
		m.holder, m.weight = h, weight
		m.set.insert(&m.hold)
	})
}

// Grow makes a member heavier. After an error it is in the set no more: there was no room,
// or it was ended before.
func (m *Member) Grow(by int64) error {
	return m.change(func() {
		if m.place != nil {
			m.weight += by
			m.set.count(&m.hold, by)
		}
	})
}

// Identify makes a member that of another holder.
func (m *Member) Identify(h Holder) {
	var end func()
	err := m.change(func() {
		if m.place != nil {
			m.set.detach(&m.hold)
			m.holder, end = h, m.end
			m.set.attach(&m.hold)
		}
	})
	if err != nil && end != nil {
		end()
	}
}

// Keep makes a member one that is not ended any more.
func (m *Member) Keep() {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.end = nil
}

// Remove takes a member out of the set, if it is there.
func (m *Member) Remove() {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.set.remove(&m.hold)
}

// Used is the weight of all members.
func (s *EvictingSet) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// change changes a member, and ends others until all have room.
func (m *Member) change(how func()) error {
	m.set.mu.Lock()
	how()
	ended, err := m.set.makeRoom(&m.hold)
	m.set.mu.Unlock()

	for _, end := range ended {
		end()
	}
	return err
}

// makeRoom takes members out until the bounds hold, and returns how to end them. It takes
// out the one that was changed, with an error, if that must give way itself.
func (s *EvictingSet) makeRoom(changed *hold) (ended []func(), err error) {
	switch {
	case changed.place == nil:
		return nil, ErrExhausted
	case s.GroupShare > 0 && changed.group.weight > s.GroupShare, s.MemberShare > 0 && changed.own.weight > s.MemberShare:
		s.remove(changed)
		return nil, ErrShare
	}

	for s.used > s.Max || s.known > s.Max-s.Reserve {
		v := s.victim(changed)
		if v == nil || v == changed {
			s.remove(changed)
			return ended, ErrExhausted
		}
		s.remove(v)
		ended = append(ended, v.end)
	}
	return ended, nil
}

// victim is what gives way: something of the known only if they have too much, or if there
// is nothing else.
func (s *EvictingSet) victim(newcomer *hold) (v *hold) {
	if s.known <= s.Max-s.Reserve {
		v = s.largest(func(h *hold) bool { return !h.holder.Known })
	}
	if v == nil && newcomer.holder.Known {
		v = s.largest(func(h *hold) bool { return h.holder.Known })
	}

	if v != nil && s.Lasting && !v.isLarger(newcomer) {
		return nil
	}
	return v
}
