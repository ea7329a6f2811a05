package attempts

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// take lets an endpoint answer so many attempts, one by one.
func (a *Limiter) take(lane string, n int, succeeded bool) {
	for range n {
		a.Begin(lane)(succeeded)
	}
}

func TestAnEndpointEarnsAttemptsByTakingThem(t *testing.T) {
	is := is.New(t)
	limiter := New(16, 100)
	is.Equal(limiter.Limit("a"), 1)
	for n := 1; n <= 40; n++ {
		limiter.take("a", 1, true)
		is.Equal(limiter.Limit("a"), min(max(n-3, 1), 16))
	}
	is.Equal(limiter.Limit("b"), 1) // by its own merits
	limiter.take("a", 1, false)
	is.Equal(limiter.Limit("a"), 6)
	limiter.take("a", 1, false)
	is.Equal(limiter.Limit("a"), 1)
	is.Equal(New(1, 100).Limit("a"), 1)
}

func TestAnEndpointThatHungBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := New(16, 100)
		limiter.take("a", 30, true)
		end := limiter.Begin("a")
		time.Sleep(10 * time.Second)
		is.Equal(limiter.Limit("a"), 16) // one slow answer is no disaster
		end(false)
		is.Equal(limiter.Limit("a"), 1)
		end = limiter.Begin("a")
		time.Sleep(hangsAfter - time.Millisecond)
		is.Equal(limiter.Limit("a"), 1)
		time.Sleep(time.Millisecond)
		is.Equal(limiter.Limit("a"), 2) // later ones need not wait for it
		end(true)
		is.Equal(limiter.Limit("a"), 1)
	})
}

func TestWhatWaitedGoesOneByOneWhateverFailsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := New(16, 100)
		limiter.take("a", 30, true)
		limiter.Resumed("a")
		limiter.take("a", 10, false)
		end := limiter.Begin("a")
		time.Sleep(hangsAfter)
		end(false)
		for range orderedAfterResume {
			is.Equal(limiter.Limit("a"), 1)
			limiter.take("a", 1, true)
		}
		limiter.take("a", 30, true)
		is.Equal(limiter.Limit("a"), 16)
	})
}

func TestEndpointsThatHangOrFailLeaveHalfOfTheWorkersToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := New(16, 20)
		for _, lane := range []string{"hangs", "hangs too", "fails", "works"} {
			limiter.take(lane, 30, true)
		}
		limiter.take("fails", 1, false)
		var ends []func(bool)
		for range 10 {
			ends = append(ends, limiter.Begin("hangs"))
		}
		time.Sleep(2 * hangsAfter)
		is.Equal(limiter.Limit("hangs"), 16) // half is theirs
		ends = append(ends, limiter.Begin("hangs too"))
		is.Equal(limiter.Limit("hangs"), 0)
		is.Equal(limiter.Limit("fails"), 0)
		is.Equal(limiter.Limit("hangs too"), 16) // not known to hang yet
		time.Sleep(hangsAfter)
		is.Equal(limiter.Limit("hangs too"), 0)
		is.Equal(limiter.Limit("works"), 16)
		is.Equal(limiter.Limit("new"), 1)
		for _, end := range ends {
			end(false)
		}
		is.Equal(limiter.Limit("fails"), 6)
		is.Equal(limiter.underWay, 0)
	})
}

func TestWhatIsIdleIsForgotten(t *testing.T) {
	is := is.New(t)
	limiter := New(16, 20)
	limiter.take("idle", 30, true)
	limiter.take("busy", 30, true)
	end := limiter.Begin("busy")
	limiter.ForgetIdle()
	is.Equal(limiter.Limit("idle"), 1)
	is.Equal(limiter.Limit("busy"), 16)
	end(true)
	limiter.ForgetIdle()
	is.Equal(len(limiter.endpoints), 0)
}

// A backlog may have a gap, while its endpoint has failed and all wait for their
// retries. What comes then must still arrive in order.
func TestABacklogThatMustArriveInOrderIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := New(16, 20)
		limiter.Resumed("a")
		limiter.ForgetIdle()
		limiter.take("a", 30, true)
		is.Equal(limiter.Limit("a"), 1)
		time.Sleep(23 * time.Hour)
		limiter.ForgetIdle()
		limiter.take("a", 30, true)
		is.Equal(limiter.Limit("a"), 1)
		time.Sleep(24 * time.Hour) // its subscription may be gone
		limiter.ForgetIdle()
		is.Equal(len(limiter.endpoints), 0)
	})
}
