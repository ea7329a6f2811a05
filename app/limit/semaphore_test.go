package limit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// acquire acquires, or fails the test.
func acquire(t *testing.T, s *Semaphore, h Holder, weight int64) *Permit {
	t.Helper()
	p, err := s.Acquire(t.Context(), h, weight, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGroupsThatWaitTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSemaphore(SemaphoreOptions{Total: 1, Patience: time.Hour})
		first := acquire(t, s, Organization(9, ""), 1)
		var served []string
		var group sync.WaitGroup
		wait := func(h Holder) {
			group.Go(func() {
				p, err := s.Acquire(context.Background(), h, 1, nil)
				if err == nil {
					served = append(served, h.Group) // the semaphore has one place
					p.Release()
				}
			})
			synctest.Wait()
		}
		for range 3 {
			wait(Organization(1, "loop"))
		}
		wait(Organization(2, ""))
		for range 3 {
			wait(Stranger("192.0.2.1"))
		}
		wait(Stranger("198.51.100.1"))
		first.Release()
		group.Wait()
		is.New(t).Equal(served, []string{
			"192.0.2.0/24", "organization 1", "198.51.100.0/24", "organization 2",
			"192.0.2.0/24", "organization 1", "192.0.2.0/24", "organization 1",
		})
	})
}

func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := NewSemaphore(SemaphoreOptions{Total: 2, Patience: 5 * time.Second})
		held := acquire(t, s, Organization(1, ""), 2)
		began := time.Now()
		_, err := s.Acquire(t.Context(), Organization(2, ""), 1, nil)
		is.Equal(err, ErrExhausted)
		is.Equal(time.Since(began), 5*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Acquire(ctx, Organization(2, ""), 1, nil)
		is.Equal(err, context.Canceled)
		_, err = s.Acquire(t.Context(), Organization(2, ""), 3, nil)
		is.Equal(err, ErrExhausted) // which never fits
		held.Release()
		held.Release()
		acquire(t, s, Organization(2, ""), 2).Release()
		is.Equal(s.used, int64(0))
		is.Equal(len(s.groups)+len(s.members)+len(s.waiting), 0) // no one is remembered
	})
}

// A group that waits for its own share holds up no one else.
func TestAGroupHasAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := NewSemaphore(SemaphoreOptions{Total: 10, Share: 4, Patience: time.Hour})
		first := acquire(t, s, Organization(1, ""), 3)
		var granted bool
		go func() {
			_, err := s.Acquire(context.Background(), Organization(1, "x"), 2, nil)
			granted = err == nil
		}()
		synctest.Wait()
		is.True(!granted)
		acquire(t, s, Organization(2, ""), 4)
		acquire(t, s, Stranger("192.0.2.1"), 3)
		first.Release()
		synctest.Wait()
		is.True(granted)
	})
}

// Small ones do not overtake a large one for ever, and go on when it stops waiting.
func TestTheTurnOfALargeOneIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := NewSemaphore(SemaphoreOptions{Total: 10, Patience: time.Minute})
		acquire(t, s, Organization(1, ""), 5)
		ctx, leave := context.WithCancel(t.Context())
		go s.Acquire(ctx, Organization(2, ""), 10, nil)
		synctest.Wait()
		var granted bool
		go func() {
			_, err := s.Acquire(context.Background(), Organization(3, ""), 1, nil)
			granted = err == nil
		}()
		synctest.Wait()
		is.True(!granted)
		leave()
		synctest.Wait()
		is.True(granted) // without anything being released
	})
}

func TestWhatIsHeldLongByTheLargestMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := NewSemaphore(SemaphoreOptions{Total: 10, Share: 6, Patience: 10 * time.Second, Grace: 2 * time.Second})
		var ended []string
		var permits sync.Map
		hold := func(name string, h Holder, weight int64) *Permit {
			p, err := s.Acquire(t.Context(), h, weight, func() {
				ended = append(ended, name)
				go func() { p, _ := permits.Load(name); p.(*Permit).Release() }()
			})
			is.NoErr(err)
			permits.Store(name, p)
			return p
		}
		hold("kept", Organization(1, ""), 2).Keep()
		hold("old", Organization(1, ""), 2)
		hold("new", Organization(1, ""), 2)
		hold("other", Organization(2, ""), 4)
		began := time.Now()
		p := acquire(t, s, Organization(3, ""), 2)
		is.Equal(time.Since(began), 2*time.Second)
		is.Equal(ended, []string{"old"})
		p.Release()

		acquire(t, s, Stranger("192.0.2.1"), 2)
		_, err := s.Acquire(t.Context(), Stranger("192.0.2.2"), 2, nil)
		is.Equal(err, ErrExhausted) // strangers end nothing of the known
		is.Equal(ended, []string{"old"})
	})
}

// Many at once never have more than there is, and each gets what it waits for.
func TestManyShareASemaphore(t *testing.T) {
	is := is.New(t)
	s := NewSemaphore(SemaphoreOptions{Total: 10, Share: 6, Patience: time.Minute})
	var mu sync.Mutex
	used, of := int64(0), make(map[string]int64)
	count := func(h Holder, by int64) {
		mu.Lock()
		defer mu.Unlock()
		used += by
		of[h.Group] += by
		if used > 10 || of[h.Group] > 6 {
			t.Errorf("%d are held, %d of %s", used, of[h.Group], h.Group)
		}
	}
	var group sync.WaitGroup
	for n := range 40 {
		group.Go(func() {
			h := Holder{Known: n%5%2 == 0, Group: fmt.Sprint(n % 5), Member: fmt.Sprint(n)}
			for range 200 {
				ctx, cancel := context.WithCancel(context.Background())
				if rand.N(4) == 0 {
					time.AfterFunc(rand.N(100*time.Microsecond), cancel)
				}
				weight := 1 + rand.Int64N(6)
				p, err := s.Acquire(ctx, h, weight, nil)
				if err == nil {
					count(h, weight)
					count(h, -weight)
					p.Release()
				} else if err != context.Canceled {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	is.Equal(s.used, int64(0))
	is.Equal(len(s.waiting)+len(s.groups), 0)
}

// However many networks strangers have, they leave room for the known.
func TestStrangersHaveAShareOfASemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := NewSemaphore(SemaphoreOptions{Total: 2, Strangers: 1, Patience: time.Second})
		first, err := s.Acquire(t.Context(), Stranger("192.0.2.1"), 1, nil)
		is.NoErr(err)
		_, err = s.Acquire(t.Context(), Stranger("198.51.100.1"), 1, nil)
		is.Equal(err, ErrExhausted)
		known, err := s.Acquire(t.Context(), Organization(1, "a"), 1, nil)
		is.NoErr(err)
		first.Release()
		second, err := s.Acquire(t.Context(), Stranger("198.51.100.1"), 1, nil)
		is.NoErr(err)
		known.Release()
		second.Release()
		is.Equal(s.used, int64(0))
	})
}
