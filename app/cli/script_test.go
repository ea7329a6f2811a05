package cli_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"confab/app/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"confab": program})
}

// TestScripts types what an operator types, and looks at what it prints.
func TestScripts(t *testing.T) {
	runScripts(t, "testdata/script")
}

// runScripts runs the scripts of a directory.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	top, err := filepath.Abs(topOfModule)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true, Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv(topVariable, top)
			return nil
		},
	})
}

// program is package main in a few lines: it cannot be imported.
func program() {
	os.Exit(cli.Run(cli.UntilSignal(), assets(), os.Args[1:]))
}

func assets() cli.Assets {
	return cli.Assets{Schema: topFile("schema.sql"), ExampleConfig: topFile("config.example.toml"), Version: "1.2.3-test"}
}

// topOfModule is where the tests find the top of the module, and topVariable says it to the programs of
// scripts, which run elsewhere.
const (
	topOfModule = "../.."
	topVariable = "TOP_OF_MODULE"
)

// topFile reads a file from the top of the module.
func topFile(name string) string {
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv(topVariable), topOfModule), name))
	if err != nil {
		panic(err)
	}
	return string(text)
}
