package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"confab/app/cli"
	"confab/app/rig"
	"confab/storage/storagetest"
)

// asConfab makes the test binary behave as confab, asReceiver as a receiver.
const (
	asConfab   = "CONFAB_TEST_PROGRAM"
	asReceiver = "CONFAB_TEST_RECEIVER"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asConfab) != "":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(cli.Run(ctx, cli.Assets{Schema: os.Getenv("CONFAB_TEST_SCHEMA"), Version: "test"}, os.Args[1:]))
	case os.Getenv(asReceiver) != "":
		fatal(receive(os.Args[2:]))
	default:
		os.Exit(m.Run())
	}
}

// TestTwentySecondsOfEverything is a short soak: the long one is `make soak`.
func TestTwentySecondsOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	schema := storagetest.Schema(t)
	r, err := soak(t.Context(), options{
		program: rig.Program{Path: os.Args[0], Env: []string{asConfab + "=1", "CONFAB_TEST_SCHEMA=" + schema}},
		self:    rig.Program{Path: os.Args[0], Env: []string{asReceiver + "=1"}},
		schema:  schema, length: 20 * time.Second, rate: 20, seed: 1,
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
