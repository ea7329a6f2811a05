package jobs

import (
	"sync"
	"time"

	"confab/storage"
)

// clockJump is by how much the wall clock must leave the monotonic one to count as
// set, or the machine as having slept.
const clockJump = 2 * time.Second

// clockWatch tells since when the wall clock has run evenly in this process. Times in
// the database that are older say nothing of how much time has passed since.
type clockWatch struct {
	mu          sync.Mutex
	wall        storage.Time // at the last look
	monotonic   time.Time    // at the same moment
	steadySince storage.Time
}

func newClockWatch() *clockWatch {
	now := storage.Now()
	return &clockWatch{wall: now, monotonic: time.Now(), steadySince: now}
}

// look returns the time, and since when the clock has run evenly: since the process
// began, or since the clock was found to have been set.
func (c *clockWatch) look() (now, steadySince storage.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	wall, monotonic := storage.Now(), time.Now()
	if jump := wall.Sub(c.wall) - monotonic.Sub(c.monotonic); jump.Abs() > clockJump {
		c.steadySince = wall
	}
	c.wall, c.monotonic = wall, monotonic
	return wall, c.steadySince
}
