package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
	"confab/storage/storagetest"
)

func TestMain(m *testing.M) {
	people = 200 // they are stored anew for each server
	rigtest.Main(m, main)
}

// newBench is a run that is over soon, on what was built for the test.
func newBench(t *testing.T) *bench {
	t.Setenv("TMPDIR", t.TempDir())
	return &bench{
		confab: rigtest.Confab(t),
		self:   rigtest.Self(),
		schema: storagetest.Schema(t), rounds: 1, length: 20 * time.Millisecond, messages: 2000,
		table: table{out: t.Output()},
	}
}

// TestGrowth measures on real processes. The other parts need more time than a
// test should have: `make bench` is their test.
func TestGrowth(t *testing.T) {
	b := newBench(t)
	b.only = "growth"
	b.run()
	if got, want := b.table.met+len(b.table.missed), len(operations); got != want {
		t.Errorf("%d goals were measured, want %d", got, want)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRunKnowsItsParts(t *testing.T) {
	b := newBench(t)
	b.only = "everything"
	if err := rig.Catch(b.run); err == nil || !strings.Contains(err.Error(), "growth") {
		t.Error(err)
	}
}
