// Package rigtest lets a test binary run itself as the programs that it tests, so that
// these are processes of their own and need not be built.
package rigtest

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"confab/app/cli"
	"confab/app/tools/rig"
	"confab/storage/storagetest"
)

// Environment variables that say which program the test binary is to be.
const (
	asConfab = "AS_CONFAB"
	schema   = "AS_CONFAB_SCHEMA"
	asSelf   = "AS_SELF"
)

// Main is called by TestMain. Depending on the variables it runs the tests, or confab, or
// self, which is the package's own program.
func Main(m interface{ Run() int }, self func(args []string)) {
	switch {
	case os.Getenv(asConfab) != "":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)

		context.AfterFunc(ctx, stop)
		os.Exit(cli.Run(ctx, cli.Assets{Schema: os.Getenv(schema), Version: "test"}, os.Args[1:]))
	case os.Getenv(asSelf) != "":
		self(os.Args[1:])
	default:
		os.Exit(m.Run())
	}
}

// Confab returns a Program that runs the test binary as confab.
func Confab(t testing.TB) rig.Program {
	t.Helper()
	return rig.Program{Path: os.Args[0], Env: []string{asConfab + "=1", schema + "=" + storagetest.Schema(t)}}
}

// Self returns a Program that runs the test binary as the package's own program.
func Self() rig.Program { return rig.Program{Path: os.Args[0], Env: []string{asSelf + "=1"}} }
