package e2e

import (
	"testing"
	"time"

	"confab/app/tools/rig"
)

// patience is how long a test waits for what takes a moment. It measures nothing:
// where other packages are compiled and tested at the same time, a moment is long.
const patience = time.Minute

// until asks again and again whether something has happened that nothing
// reports, and returns false when it has not.
func until(happened func() bool) bool { return within(patience, happened) }

// within is until for what may take longer.
func within(limit time.Duration, happened func() bool) bool {
	pause := 10 * time.Millisecond
	for began := time.Now(); !happened(); time.Sleep(pause) {
		if time.Since(began) > limit {
			return false
		}
		pause = min(pause*5/4, 50*time.Millisecond) // to ask is work too
	}
	return true
}

// freeAddress is an address that is not listened on now, nor later, unless the
// test does.
func freeAddress(t testing.TB) string {
	t.Helper()
	address, err := rig.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
