package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"confab/app/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"confab": program})
}

// TestScripts types what an operator types, and looks at what it prints.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true, Cmds: scriptCommands(),
	})
}

// program is package main in a few lines: it cannot be imported.
func program() {
	os.Exit(cli.Run(cli.UntilSignal(), assets(), os.Args[1:]))
}

func assets() cli.Assets {
	return cli.Assets{Schema: topFile("schema.sql"), ExampleConfig: topFile("config.example.toml"), Version: "1.2.3-test"}
}

// topFile reads a file from the top of the module.
func topFile(name string) string {
	_, self, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), "..", "..", name))
	if err != nil {
		panic(err)
	}
	return string(text)
}
