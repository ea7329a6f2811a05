package limit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
)

// recorder adds to a set and remembers what was ended.
type recorder struct {
	t     *testing.T
	set   *EvictingSet
	mu    sync.Mutex
	ended []string
}

func (c *recorder) add(name string, h Holder) *Member {
	c.t.Helper()
	m, err := c.tryToAdd(name, h)
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return m
}

func (c *recorder) tryToAdd(name string, h Holder) (*Member, error) {
	return c.set.Add(h, 1, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = append(c.ended, name)
	})
}

// saw returns what was ended since the last call.
func (c *recorder) saw() string {
	defer func() { c.ended = nil }()
	return strings.Join(c.ended, " ")
}

func TestTheLargestHolderMakesWay(t *testing.T) {
	is := is.New(t)
	c := &recorder{t: t, set: NewEvictingSet(SetOptions{Max: 6})}
	c.add("small", Stranger("198.51.100.1"))
	for i := range 3 {
		c.add(fmt.Sprint("a", i), Stranger("192.0.2.1"))
	}
	c.add("b0", Stranger("192.0.2.2"))
	c.add("b1", Stranger("192.0.2.2"))
	c.add("new", Stranger("203.0.113.1"))
	is.Equal(c.saw(), "a0") // the largest network, in it the largest address, of that the oldest
	c.add("a3", Stranger("192.0.2.1"))
	is.Equal(c.saw(), "a1") // also for one of its own
	left := c.add("again", Stranger("2001:db8::1"))
	is.Equal(c.saw(), "a2")
	left.Remove()
	left.Remove()
	c.add("free", Stranger("2001:db8::1"))
	is.Equal(c.saw(), "")
	is.Equal(c.set.Used(), int64(6))
}

func TestStrangersNeverEndTheKnown(t *testing.T) {
	is := is.New(t)
	c := &recorder{t: t, set: NewEvictingSet(SetOptions{Max: 10, Reserve: 2})}
	for i := range 8 {
		m := c.add(fmt.Sprint("known", i), Stranger("192.0.2.1"))
		m.Identify(Organization(int64(i/4), "person"))
	}
	for i := range 20 {
		c.add(fmt.Sprint("stranger", i), Stranger(fmt.Sprintf("192.0.%d.1", i)))
	}
	is.True(!strings.Contains(c.saw(), "known"))

	// A newcomer shows who it is in the reserve, and then counts with the known.
	c.add("newcomer", Stranger("192.0.2.1")).Identify(Organization(3, ""))
	is.Equal(c.saw(), "stranger18 known0")
	c.add("own", Stranger("192.0.2.1")).Identify(Organization(1, "person"))
	is.Equal(c.saw(), "known4")
}

func TestWhatLastsIsEndedForSmallerHoldersOnly(t *testing.T) {
	is := is.New(t)
	c := &recorder{t: t, set: NewEvictingSet(SetOptions{Max: 6, GroupShare: 5, MemberShare: 4, Lasting: true})}
	for i := range 4 {
		c.add(fmt.Sprint("a", i), Organization(1, "ada"))
	}
	_, err := c.tryToAdd("a4", Organization(1, "ada"))
	is.Equal(err, ErrShare)
	c.add("b", Organization(1, "bob"))
	_, err = c.tryToAdd("c", Organization(1, "cyd"))
	is.Equal(err, ErrShare)
	c.add("x0", Organization(2, "xia"))
	c.add("x1", Organization(2, "xia"))
	is.Equal(c.saw(), "a0")
	c.add("x2", Organization(2, "xia"))
	is.Equal(c.saw(), "a1")
	_, err = c.tryToAdd("x3", Organization(2, "xia"))
	is.Equal(err, ErrExhausted) // both have three
	_, err = c.tryToAdd("b1", Organization(1, "bob"))
	is.Equal(err, ErrExhausted)
	c.add("y", Organization(3, "yan"))
	is.Equal(c.saw(), "a2")
	is.Equal(c.set.Used(), int64(6))
}

func TestWhatGrowsTooLargeEndsItself(t *testing.T) {
	is := is.New(t)
	s := NewEvictingSet(SetOptions{Max: 100})
	ended := false
	first, err := s.Add(Stranger("192.0.2.1"), 10, func() { ended = true })
	is.NoErr(err)
	kept, err := s.Add(Stranger("192.0.2.1"), 50, func() { t.Error("it was to be kept") })
	is.NoErr(err)
	kept.Keep()
	other, err := s.Add(Stranger("198.51.100.1"), 10, func() { t.Error("the other holds less") })
	is.NoErr(err)
	is.NoErr(other.Grow(40))
	is.True(ended)
	is.Equal(first.Grow(1), ErrExhausted)
	is.Equal(other.Grow(1), ErrExhausted) // kept things do not make way
	is.Equal(s.Used(), int64(50))
	kept.Remove()
	is.Equal(s.Used(), int64(0))
	is.Equal(len(s.groups)+len(s.members), 0)
}

// Many at once never have more than there is, and each is ended at most once.
func TestManyShareASet(t *testing.T) {
	is := is.New(t)
	s := NewEvictingSet(SetOptions{Max: 50, Reserve: 5})
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			var mine []*Member
			for i := range 500 {
				var once sync.Once
				m, err := s.Add(Stranger(fmt.Sprintf("192.0.%d.%d", n%4, n)), 1, func() {
					first := false
					once.Do(func() { first = true })
					if !first {
						t.Error("it was ended twice")
					}
				})
				if err != nil {
					continue
				}
				mine = append(mine, m)
				switch rand.N(4) {
				case 0:
					m.Identify(Organization(int64(n%3), fmt.Sprint(n)))
				case 1:
					_ = m.Grow(int64(rand.N(3)))
				case 2:
					mine[rand.N(len(mine))].Remove()
				}
				if used := s.Used(); used > 50 {
					t.Errorf("%d of 50 are used after %d", used, i)
				}
			}
			for _, m := range mine {
				m.Remove()
			}
		})
	}
	group.Wait()
	is.Equal(s.Used(), int64(0))
	is.Equal(s.known, int64(0))
	is.Equal(len(s.groups)+len(s.members)+s.order.Len(), 0)
}
