package limit

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func TestEachKeyHasABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		b := new(Buckets[string])
		for range 3 {
			is.True(b.Of("a", 1, 3).Allow())
		}
		is.True(!b.Of("a", 1, 3).Allow())
		is.True(b.Of("b", 1, 3).Allow())
		is.Equal(b.Of("a", 2, 5).Burst(), 5) // another plan
		time.Sleep(500 * time.Millisecond)
		is.True(b.Of("a", 2, 5).Allow())
		is.True(!b.Of("a", 2, 5).Allow())

		for i := range maxRecent - 1 {
			b.Of(fmt.Sprint("x", i), 1, 3)
			b.Of("a", 2, 5)
		}
		is.Equal(len(b.recent.found), maxRecent) // and b was forgotten, which was not used
		is.True(b.recent.found["b"] == nil)
		is.True(!b.Of("a", 2, 5).Allow())
	})
}

// Whenever somebody takes, and however much, no 24 hours have more than the bound, and it can be
// used up again a day later.
func TestNoDayHasMoreThanItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		const most = 100
		d, random := NewDaily[string](), rand.New(rand.NewPCG(1, 2))
		var taken []time.Time
		for range 20_000 {
			time.Sleep(time.Duration(random.Int64N(int64(20 * time.Minute))))
			n := 1 + random.Int64N(5)
			undo, wait := d.Take("a", n, most)
			is.Equal(undo == nil, wait > 0)
			switch {
			case undo == nil:
				is.True(wait <= 25*time.Hour)
			case random.IntN(3) == 0:
				undo()
			default:
				for range n {
					taken = append(taken, time.Now())
				}
			}
			for len(taken) > 0 && time.Since(taken[0]) >= 24*time.Hour {
				taken = taken[1:]
			}
			is.True(len(taken) <= most)
		}

		time.Sleep(25 * time.Hour)
		undo, _ := d.Take("a", most, most)
		is.True(undo != nil)
		again, wait := d.Take("a", 1, most)
		is.True(again == nil)
		time.Sleep(wait - time.Second)
		again, _ = d.Take("a", 1, most)
		is.True(again == nil) // it says when
		time.Sleep(time.Second)
		again, _ = d.Take("a", most, most)
		is.True(again != nil)
		undo() // long after it counts
		again, _ = d.Take("a", 1, most)
		is.True(again == nil)
		other, _ := d.Take("b", most, most)
		is.True(other != nil)
		other, _ = d.Take("c", most+1, most)
		is.True(other == nil)
	})
}

func TestAQuotaIsThatOfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := NewQuota(5, 2)
		for range 3 {
			allowed := 0
			for i := range 20 {
				if q.Allow(fmt.Sprint(i % 4)) {
					allowed++
				}
			}
			is.Equal(allowed, 5)
			is.True(!q.Allow("another"))
			is.True(len(q.of) <= 5)
			time.Sleep(time.Minute)
		}
		is.True(q.Allow("a"))
		is.True(q.Allow("a"))
		is.True(!q.Allow("a")) // its share
		is.True(q.Allow("b"))
	})
}

func TestThoseWhoFailWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := NewThrottle()
		for range 5 {
			w.Fail("a")
			is.Equal(w.Wait("a"), 0*time.Second)
		}
		for _, want := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			w.Fail("a")
			is.Equal(w.Wait("a"), time.Duration(want)*time.Second)
			is.Equal(w.Wait("b"), 0*time.Second)
			time.Sleep(time.Duration(want) * time.Second)
			is.Equal(w.Wait("a"), 0*time.Second) // no one is locked out for good
		}
		w.Clear("a")
		w.Fail("a")
		is.Equal(w.Wait("a"), 0*time.Second)
		for range 6 {
			w.Fail("a")
		}
		time.Sleep(remembered + time.Second)
		w.Fail("a")
		is.Equal(w.Wait("a"), 0*time.Second) // an old failure does not count
	})
}

func TestTheThrottleIsBounded(t *testing.T) {
	is := is.New(t)
	w := NewThrottle()
	for range 8 {
		w.Fail("attacker")
	}
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range maxEntries {
				w.Fail(fmt.Sprint(n, i))
			}
		})
	}
	group.Wait()
	is.True(len(w.all) <= maxEntries)
	is.True(w.Wait("attacker") > 0) // those who wait are forgotten last
}

func TestWhatMayHappenOnce(t *testing.T) {
	is := is.New(t)
	var o Once[string]
	is.True(o.First("a"))
	is.True(!o.First("a"))
	for i := range maxRecent {
		is.True(o.First(fmt.Sprint(i)))
	}
	is.True(o.First("a")) // more than are remembered
	is.Equal(len(o.recent.found), maxRecent)
}
