package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
	"confab/storage/storagetest"
)

func TestMain(m *testing.M) {
	rigtest.Main(m, main)
}

// newBench is a run that is over soon, on what was built for the test.
func newBench(t *testing.T) *bench {
	t.Setenv("TMPDIR", t.TempDir())
	return &bench{
		confab: rigtest.Confab(t),
		self:   rigtest.Self(),
		schema: storagetest.Schema(t), rounds: 1, length: 20 * time.Millisecond, messages: 2000,
	}
}

func TestSizes(t *testing.T) {
	for messages, want := range map[int][]int{
		2000:       {2000},
		1_000_000:  {1_000_000},
		10_000_000: {1_000_000, 10_000_000},
	} {
		if got := (&bench{messages: messages}).sizes(); !slices.Equal(got, want) {
			t.Errorf("%d messages: %v, want %v", messages, got, want)
		}
	}
}

func TestGrowthNeedsRoom(t *testing.T) {
	b := &bench{dir: t.TempDir(), messages: 1 << 50}
	if err := rig.Catch(b.checkDiskSpace); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Error(err)
	}
	b.messages = 1
	b.checkDiskSpace()
}

// TestGrowth measures on real processes. The other parts need more time than a
// test should have: `make bench` is their test.
func TestGrowth(t *testing.T) {
	b := newBench(t)
	b.only = "growth"
	b.run(t.Context())
	if got, want := len(b.table.rows), 1+2*len(operations); got != want {
		t.Errorf("%d rows, want %d:\n%s", got, want, b.table.String())
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRunKnowsItsParts(t *testing.T) {
	b := newBench(t)
	b.only = "everything"
	if err := rig.Catch(func() { b.run(t.Context()) }); err == nil || !strings.Contains(err.Error(), "growth") {
		t.Error(err)
	}
}
