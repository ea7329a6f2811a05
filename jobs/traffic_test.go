package jobs

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// take lets an endpoint answer so many attempts, one by one.
func (t *traffic) take(lane string, n int, succeeded bool) {
	for range n {
		t.begin(lane)(succeeded)
	}
}

func TestAnEndpointEarnsAttemptsByTakingThem(t *testing.T) {
	is := is.New(t)
	roads := newTraffic(16, 100)
	is.Equal(roads.allowed("a"), 1)
	for n := 1; n <= 40; n++ {
		roads.take("a", 1, true)
		is.Equal(roads.allowed("a"), min(max(n-3, 1), 16))
	}
	is.Equal(roads.allowed("b"), 1) // by its own merits
	roads.take("a", 1, false)
	is.Equal(roads.allowed("a"), 6)
	roads.take("a", 1, false)
	is.Equal(roads.allowed("a"), 1)
	is.Equal(newTraffic(1, 100).allowed("a"), 1)
}

func TestAnEndpointThatHungBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		roads := newTraffic(16, 100)
		roads.take("a", 30, true)
		end := roads.begin("a")
		time.Sleep(10 * time.Second)
		is.Equal(roads.allowed("a"), 16) // one slow answer is no disaster
		end(false)
		is.Equal(roads.allowed("a"), 1)
		end = roads.begin("a")
		time.Sleep(slow - time.Millisecond)
		is.Equal(roads.allowed("a"), 1)
		time.Sleep(time.Millisecond)
		is.Equal(roads.allowed("a"), 2) // what comes behind need not wait for it
		end(true)
		is.Equal(roads.allowed("a"), 1)
	})
}

func TestWhatWaitedGoesOneByOneWhateverFailsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		roads := newTraffic(16, 100)
		roads.take("a", 30, true)
		roads.resumed("a")
		roads.take("a", 10, false)
		end := roads.begin("a")
		time.Sleep(slow)
		end(false)
		for range waitedInOrder {
			is.Equal(roads.allowed("a"), 1)
			roads.take("a", 1, true)
		}
		roads.take("a", 30, true)
		is.Equal(roads.allowed("a"), 16)
	})
}

func TestEndpointsThatHangOrFailLeaveHalfOfTheWorkersToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		roads := newTraffic(16, 20)
		for _, lane := range []string{"hangs", "hangs too", "fails", "works"} {
			roads.take(lane, 30, true)
		}
		roads.take("fails", 1, false)
		var ends []func(bool)
		for range 10 {
			ends = append(ends, roads.begin("hangs"))
		}
		time.Sleep(2 * slow)
		is.Equal(roads.allowed("hangs"), 16) // half is theirs
		ends = append(ends, roads.begin("hangs too"))
		is.Equal(roads.allowed("hangs"), 0)
		is.Equal(roads.allowed("fails"), 0)
		is.Equal(roads.allowed("hangs too"), 16) // not known to hang yet
		time.Sleep(slow)
		is.Equal(roads.allowed("hangs too"), 0)
		is.Equal(roads.allowed("works"), 16)
		is.Equal(roads.allowed("new"), 1)
		for _, end := range ends {
			end(false)
		}
		is.Equal(roads.allowed("fails"), 6)
		is.Equal(roads.busy, 0)
	})
}

func TestWhatIsIdleIsForgotten(t *testing.T) {
	is := is.New(t)
	roads := newTraffic(16, 20)
	roads.take("idle", 30, true)
	roads.take("busy", 30, true)
	end := roads.begin("busy")
	roads.forget()
	is.Equal(roads.allowed("idle"), 1)
	is.Equal(roads.allowed("busy"), 16)
	end(true)
	roads.forget()
	is.Equal(len(roads.flows), 0)
}
