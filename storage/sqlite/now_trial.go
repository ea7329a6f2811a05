//go:build trial

package sqlite

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// This build, for the trials of app/tools/soak alone, has a clock that can be set.
const (
	// clockFile is the variable that names the file with the offset of the clock,
	// such as "48h0m0s". Without the variable or the file the clock is right.
	clockFile = "TRIAL_CLOCK"
	// clockFileEvery is how often the file is read at most.
	clockFileEvery = 100 * time.Millisecond
)

var trialClock struct {
	sync.Mutex
	offset time.Duration
	read   time.Time
}

// Now is the current instant, moved by the offset.
func Now() Time {
	trialClock.Lock()
	defer trialClock.Unlock()

	now := time.Now()
	if now.Sub(trialClock.read) >= clockFileEvery {
		trialClock.offset, trialClock.read = readClockFile(), now
	}
	return At(now.Add(trialClock.offset))
}

// readClockFile reads the offset. The file is replaced as a whole, never half written.
func readClockFile() time.Duration {
	text, err := os.ReadFile(os.Getenv(clockFile))
	if err != nil {
		return 0
	}

	offset, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", clockFile, err))
	}
	return offset
}
