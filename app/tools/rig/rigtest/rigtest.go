// Package rigtest lets a test binary run itself as the programs that it tests, so that
// these are processes of their own and need not be built.
package rigtest

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"confab/app/cli"
	"confab/app/tools/rig"
	"confab/storage"
	"confab/storage/storagetest"
)

// Environment variables that say which program the test binary is to be.
const (
	asConfab = "AS_CONFAB"
	schema   = "AS_CONFAB_SCHEMA"
	asSelf   = "AS_SELF"

	// ClockStep is by how much the clock of confab is set ahead, or back, whenever it gets SIGUSR1.
	ClockStep = "AS_CONFAB_CLOCK_STEP"
)

// Main is called by TestMain. Depending on the variables it runs the tests, or confab, or
// self, which is the package's own program.
func Main(m interface{ Run() int }, self func()) {
	switch {
	case os.Getenv(asConfab) != "":
		os.Exit(cli.Run(cli.UntilSignal(), cli.Assets{Schema: os.Getenv(schema), Version: "test", Clock: steppedClock()}, os.Args[1:]))
	case os.Getenv(asSelf) != "":
		self()
	default:
		os.Exit(m.Run())
	}
}

// steppedClock is a clock that follows ClockStep; nil without it.
func steppedClock() *storage.MovableClock {
	by, err := time.ParseDuration(os.Getenv(ClockStep))
	if err != nil {
		return nil
	}

	clock, signals := &storage.MovableClock{}, make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			clock.Advance(by)
		}
	}()
	return clock
}

// Confab returns a Program that runs the test binary as confab.
func Confab(t testing.TB) rig.Program {
	t.Helper()
	return rig.Program{Path: os.Args[0], Env: []string{asConfab + "=1", schema + "=" + storagetest.Schema(t)}}
}

// Self returns a Program that runs the test binary as the package's own program.
func Self() rig.Program { return rig.Program{Path: os.Args[0], Env: []string{asSelf + "=1"}} }
