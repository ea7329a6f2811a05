package clockwatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
)

// window is how long a call that may have had its effect waits for word of it.
const window = 30 * time.Second

// set sets the clock forward, or back: to the watch it looks as if the last look
// had been at another time.
func (c *Watch) set(by time.Duration) { c.wall = c.wall.Add(-by) }

// never is when nothing could be stored, if everything always could.
func never() time.Time { return time.Time{} }

// stop makes a watch believe that the process was stopped for a time until now.
func (c *Watch) stop(length time.Duration) {
	c.wall, c.monotonic = c.wall.Add(-length), c.monotonic.Add(-length)
}

func TestACallThatMayHaveHadItsEffectWaitsWhateverTheClockSays(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": 11 * time.Minute, "back": -11 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				w := New(storage.Now, never)
				time.Sleep(time.Hour)
				began := storage.Now()
				time.Sleep(10 * time.Second)
				is.Equal(w.Left(began, window), 20*time.Second)

				w.set(step)
				began = began.Add(-step)
				is.Equal(w.Left(began, window), 30*time.Second) // anew
				time.Sleep(10 * time.Second)
				is.Equal(w.Left(began, window), 20*time.Second)
				time.Sleep(time.Hour)
				is.True(w.Left(began, window) <= 0)

				began = storage.Now() // what begins later is as always
				time.Sleep(10 * time.Second)
				is.Equal(w.Left(began, window), 20*time.Second)
			})
		})
	}
}

func TestACallThatMayHaveHadItsEffectWaitsAnewAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := New(storage.Now, never)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		time.Sleep(time.Hour)
		began := storage.Now()
		time.Sleep(10 * time.Second)
		is.Equal(w.Left(began, window), 20*time.Second) // only the watch looked

		w.stop(40 * time.Second)
		began = began.Add(-40 * time.Second)
		is.Equal(w.Left(began, window), 30*time.Second) // no word could be heard
		time.Sleep(31 * time.Second)
		is.True(w.Left(began, window) <= 0)

		stop()
		is.NoErr(<-ended)
	})
}

func TestACallThatMayHaveHadItsEffectWaitsAnewAfterNothingCouldBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var stalled time.Time
		w := New(storage.Now, func() time.Time { return stalled })
		time.Sleep(time.Hour)
		began := storage.Now()
		time.Sleep(10 * time.Second)
		is.Equal(w.Left(began, window), 20*time.Second)

		time.Sleep(15 * time.Second)
		stalled = time.Now() // callbacks were refused until now
		time.Sleep(time.Second)
		is.Equal(w.Left(began, window), 30*time.Second)
		time.Sleep(10 * time.Second)
		is.Equal(w.Left(began, window), 20*time.Second) // and once is enough
	})
}

// TestAMoveIsNoLeap: who moves the clock of a sandbox means that the time has passed.
func TestAMoveIsNoLeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var clock storage.MovableClock
		w := New(clock.Now, never)
		began := clock.Now()
		time.Sleep(10 * time.Second)
		w.Move(15*time.Second, func() { clock.Advance(15 * time.Second) })
		is.Equal(w.Left(began, window), 5*time.Second)
		w.Move(time.Hour, func() { clock.Advance(time.Hour) })
		is.True(w.Left(began, window) < 0)
		is.Equal(w.Left(clock.Now(), window), window) // what begins now is as always
	})
}
