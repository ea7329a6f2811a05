package jobs

import (
	"context"
	"sync"
	"time"

	"confab/storage"
)

const (
	// clockJump is by how much the wall clock must leave the monotonic one to count as
	// set, or the machine as having slept; and for how long nothing may have run here
	// for the process to count as stopped meanwhile.
	clockJump = 3 * time.Second
	// clockBeat is how often a running process shows that it was not stopped.
	clockBeat = time.Second
)

// clockWatch tells since when the wall clock has run evenly in this process, the process
// with it, and the database stored what it was told. Older times in the database say
// nothing of how long something could have been heard since.
type clockWatch struct {
	stalled func() time.Time // when nothing could be stored, the last time

	mu          sync.Mutex
	wall        storage.Time // at the last look
	monotonic   time.Time    // at the same moment
	beating     bool         // somebody looks every clockBeat
	steadySince storage.Time
}

func newClockWatch(stalled func() time.Time) *clockWatch {
	now := storage.Now()
	return &clockWatch{stalled: stalled, wall: now, monotonic: time.Now(), steadySince: now}
}

// NoticeStops looks at the clocks every clockBeat until ctx ends. Without it, a stop of the process (a
// signal, a machine that was put aside with its clocks running) goes unnoticed, and what
// waits for word from outside takes that time for silence.
func (w *Workers) NoticeStops(ctx context.Context) error {
	w.steady.beat(true)
	defer w.steady.beat(false)

	tick := time.NewTicker(clockBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.steady.look()
		case <-ctx.Done():
			return nil
		}
	}
}

// beat begins or ends the time in which somebody looks every clockBeat.
func (c *clockWatch) beat(on bool) {
	c.look()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.beating = on
}

// look returns the time, and since when the clock has run evenly: since the process
// began or went on after a stop, or since the clock was found to have been set, or that
// nothing could be stored.
func (c *clockWatch) look() (now, steadySince storage.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	wall, monotonic := storage.Now(), time.Now()
	passed := monotonic.Sub(c.monotonic)
	jump := wall.Sub(c.wall) - passed
	if jump.Abs() > clockJump || c.beating && passed > clockJump || c.stalled().After(c.monotonic) {
		c.steadySince = wall
	}
	c.wall, c.monotonic = wall, monotonic
	return wall, c.steadySince
}
