// Package clockwatch says how long something could have been heard from outside.
package clockwatch

import (
	"context"
	"sync"
	"time"

	"confab/storage"
)

const (
	// jumpAfter is by how much the wall clock must leave the monotonic one to count as
	// set, or the machine as having slept; and for how long nothing may have run here
	// for the process to count as stopped meanwhile.
	jumpAfter = 3 * time.Second
	// beatEvery is how often a running process shows that it was not stopped.
	beatEvery = time.Second
)

// Watch reports since when the wall clock has run evenly in this process, the process
// with it, and the database stored what it received. Older times in the database say
// nothing of how long something could have been heard since.
type Watch struct {
	now     func() storage.Time // what the clock says
	stalled func() time.Time    // when nothing could be stored, the last time

	mu          sync.Mutex
	wall        storage.Time // at the last look
	monotonic   time.Time    // at the same moment
	beating     bool         // somebody looks every beatEvery
	stops       int
	steadySince storage.Time
}

// New begins to watch a clock. It asks stalled when nothing could be stored, the last time.
func New(now func() storage.Time, stalled func() time.Time) *Watch {
	wall := now()
	return &Watch{now: now, stalled: stalled, wall: wall, monotonic: time.Now(), steadySince: wall}
}

// Run looks at the clocks every beatEvery until ctx ends. Without it, a stop of the process (a
// signal, a machine that was put aside with its clocks running) goes unnoticed, and what
// waits for word from outside takes that time for silence.
func (c *Watch) Run(ctx context.Context) error {
	c.beat(true)
	defer c.beat(false)

	tick := time.Tick(beatEvery)
	for {
		select {
		case <-tick:
			c.look()
		case <-ctx.Done():
			return nil
		}
	}
}

// Left is how much of a window is left for word of something that began at a time.
// None could arrive while the process was down or stopped, or be stored while the disk
// was full, and how long ago that was is unknown when the clock was set since, so the
// window counts from then at the earliest.
func (c *Watch) Left(began storage.Time, window time.Duration) time.Duration {
	now, from := c.look()
	if began <= now { // otherwise the clock was set back
		from = max(from, began)
	}
	return from.Add(window).Sub(now)
}

// Move lets move set the clock ahead on purpose, which does not count as a leap: how much time
// has passed is known.
func (c *Watch) Move(by time.Duration, move func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	move()
	c.wall = c.wall.Add(by)
}

// Stops is how often the process was stopped, or its clock was set, as far as it was found out.
func (c *Watch) Stops() int {
	c.look()

	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stops
}

// beat begins or ends the time in which somebody looks every beatEvery.
func (c *Watch) beat(on bool) {
	c.look()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.beating = on
}

// look returns the time, and since when the clock has run evenly: since the process
// began or went on after a stop, or since the clock was found to have been set, or that
// nothing could be stored.
func (c *Watch) look() (now, steadySince storage.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	wall, monotonic := c.now(), time.Now()
	passed := monotonic.Sub(c.monotonic)
	jump := wall.Sub(c.wall) - passed
	stopped := jump.Abs() > jumpAfter || c.beating && passed > jumpAfter
	if stopped {
		c.stops++
	}
	if stopped || c.stalled().After(c.monotonic) {
		c.steadySince = wall
	}
	c.wall, c.monotonic = wall, monotonic
	return wall, c.steadySince
}
