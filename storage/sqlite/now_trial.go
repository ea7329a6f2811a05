//go:build trial

package sqlite

import (
	"os"
	"sync"
	"time"
)

// This build, for the trials of app/tools/soak alone, has a clock that can be set: the variable
// TRIAL_CLOCK names a file with its offset, such as "48h0m0s", which is replaced as a whole. Without
// the variable or the file the clock is right.
var trialClock struct {
	sync.Mutex
	offset time.Duration
	read   time.Time
}

// Now is the current instant, moved by the offset, which is read ten times a second at most.
func Now() Time {
	trialClock.Lock()
	defer trialClock.Unlock()

	now := time.Now()
	if now.Sub(trialClock.read) >= 100*time.Millisecond {
		text, _ := os.ReadFile(os.Getenv("TRIAL_CLOCK"))
		trialClock.offset, _ = time.ParseDuration(string(text))
		trialClock.read = now
	}
	return At(now.Add(trialClock.offset))
}
