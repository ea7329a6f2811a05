package main

import (
	"testing"
	"time"

	"confab/app/rig/rigtest"
	"confab/storage/storagetest"
)

func TestMain(m *testing.M) {
	rigtest.Main(m, func(args []string) { fatal(receive(args[1:])) })
}

// TestTwentySecondsOfEverything is a short soak: the long one is `make soak`.
func TestTwentySecondsOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	r, err := soak(t.Context(), options{
		program: rigtest.Confab(t),
		self:    rigtest.Self(),
		schema:  storagetest.Schema(t), length: 20 * time.Second, rate: 20, seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + r.String())
	if r.failed() {
		t.Errorf("%d discrepancies", r.discrepancies)
	}
	if r.sent == 0 || r.received == 0 || r.events == 0 {
		t.Error("nothing happened")
	}
}
