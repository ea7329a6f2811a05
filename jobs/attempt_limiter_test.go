package jobs

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/webhook"
)

// take lets an endpoint answer so many attempts, one by one.
func (a *attemptLimiter) take(lane string, n int, succeeded bool) {
	for range n {
		a.begin(lane)(succeeded)
	}
}

func TestAnEndpointEarnsAttemptsByTakingThem(t *testing.T) {
	is := is.New(t)
	limiter := newAttemptLimiter(16, 100)
	is.Equal(limiter.limit("a"), 1)
	for n := 1; n <= 40; n++ {
		limiter.take("a", 1, true)
		is.Equal(limiter.limit("a"), min(max(n-3, 1), 16))
	}
	is.Equal(limiter.limit("b"), 1) // by its own merits
	limiter.take("a", 1, false)
	is.Equal(limiter.limit("a"), 6)
	limiter.take("a", 1, false)
	is.Equal(limiter.limit("a"), 1)
	is.Equal(newAttemptLimiter(1, 100).limit("a"), 1)
}

func TestAnEndpointThatHungBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := newAttemptLimiter(16, 100)
		limiter.take("a", 30, true)
		end := limiter.begin("a")
		time.Sleep(10 * time.Second)
		is.Equal(limiter.limit("a"), 16) // one slow answer is no disaster
		end(false)
		is.Equal(limiter.limit("a"), 1)
		end = limiter.begin("a")
		time.Sleep(hangsAfter - time.Millisecond)
		is.Equal(limiter.limit("a"), 1)
		time.Sleep(time.Millisecond)
		is.Equal(limiter.limit("a"), 2) // what comes behind need not wait for it
		end(true)
		is.Equal(limiter.limit("a"), 1)
	})
}

func TestWhatWaitedGoesOneByOneWhateverFailsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := newAttemptLimiter(16, 100)
		limiter.take("a", 30, true)
		limiter.resumed("a")
		limiter.take("a", 10, false)
		end := limiter.begin("a")
		time.Sleep(hangsAfter)
		end(false)
		for range orderedAfterResume {
			is.Equal(limiter.limit("a"), 1)
			limiter.take("a", 1, true)
		}
		limiter.take("a", 30, true)
		is.Equal(limiter.limit("a"), 16)
	})
}

func TestEndpointsThatHangOrFailLeaveHalfOfTheWorkersToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := newAttemptLimiter(16, 20)
		for _, lane := range []string{"hangs", "hangs too", "fails", "works"} {
			limiter.take(lane, 30, true)
		}
		limiter.take("fails", 1, false)
		var ends []func(bool)
		for range 10 {
			ends = append(ends, limiter.begin("hangs"))
		}
		time.Sleep(2 * hangsAfter)
		is.Equal(limiter.limit("hangs"), 16) // half is theirs
		ends = append(ends, limiter.begin("hangs too"))
		is.Equal(limiter.limit("hangs"), 0)
		is.Equal(limiter.limit("fails"), 0)
		is.Equal(limiter.limit("hangs too"), 16) // not known to hang yet
		time.Sleep(hangsAfter)
		is.Equal(limiter.limit("hangs too"), 0)
		is.Equal(limiter.limit("works"), 16)
		is.Equal(limiter.limit("new"), 1)
		for _, end := range ends {
			end(false)
		}
		is.Equal(limiter.limit("fails"), 6)
		is.Equal(limiter.underWay, 0)
	})
}

func TestWhatIsIdleIsForgotten(t *testing.T) {
	is := is.New(t)
	limiter := newAttemptLimiter(16, 20)
	limiter.take("idle", 30, true)
	limiter.take("busy", 30, true)
	end := limiter.begin("busy")
	limiter.forgetIdle()
	is.Equal(limiter.limit("idle"), 1)
	is.Equal(limiter.limit("busy"), 16)
	end(true)
	limiter.forgetIdle()
	is.Equal(len(limiter.endpoints), 0)
}

// A backlog may have a gap, while its endpoint has failed and all wait for their
// retries. What comes then must still arrive in order.
func TestABacklogThatMustArriveInOrderIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limiter := newAttemptLimiter(16, 20)
		limiter.resumed("a")
		limiter.forgetIdle()
		limiter.take("a", 30, true)
		is.Equal(limiter.limit("a"), 1)
		time.Sleep(23 * time.Hour)
		limiter.forgetIdle()
		limiter.take("a", 30, true)
		is.Equal(limiter.limit("a"), 1)
		time.Sleep(24 * time.Hour) // its subscription may be gone
		limiter.forgetIdle()
		is.Equal(len(limiter.endpoints), 0)
	})
}

func TestTheLeaseOfADeliveryCoversItsAttempt(t *testing.T) {
	is := is.New(t)
	is.Equal(Webhooks{}.lease(), 10*time.Second+deliverMargin) // the client's own limit
	is.Equal(Webhooks{Client: webhook.Client{Timeout: time.Minute}}.lease(), time.Minute+deliverMargin)
}
