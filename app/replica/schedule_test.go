package replica_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/replica"
)

// TestTheReplicaIsCheckedOnceADay lets days pass on a clock of its own.
func TestTheReplicaIsCheckedOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		opened := time.Now()
		fails := 2
		checks := replica.Days(7, func(time.Time) bool {
			fails--
			return fails < 0
		})
		is.True(checks[0].Sub(opened) >= 10*time.Minute && checks[0].Sub(opened) < 11*time.Minute)
		for i := 1; i < len(checks); i++ {
			gap := checks[i].Sub(checks[i-1])
			if i <= 2 { // after one that failed
				is.True(gap >= time.Hour && gap < 61*time.Minute)
				continue
			}
			is.True(gap > 12*time.Hour && gap < replica.VerifiedWithin)
		}
		last := checks[len(checks)-1]
		is.Equal(last.Hour(), 3) // a quiet one
		is.True(len(checks) >= 8 && len(checks) <= 10)
	})
}

// TestRareUploadsAreWatchedAsUsual: a product of two durations is soon more than a number can hold.
func TestRareUploadsAreWatchedAsUsual(t *testing.T) {
	is := is.New(t)
	for _, interval := range []time.Duration{250 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 24 * time.Hour} {
		is.Equal(replica.Often(5*time.Second, interval), 5*time.Second)
	}
	is.Equal(replica.Often(5*time.Second, 50*time.Millisecond), time.Second)
}
