package storagetest

import (
	"sync/atomic"
	"time"

	"confab/storage"
)

// Clock is a clock that a test can set. Timers, and how much time has passed, do not
// change with it, as they do not with a real one.
type Clock struct{ ahead atomic.Int64 }

// Now is what the clock says, for storage.Options.
func (c *Clock) Now() storage.Time { return storage.Now().Add(time.Duration(c.ahead.Load())) }

// Set sets the clock so far ahead of the right time, or behind it.
func (c *Clock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }
