package app_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestOnlyTheSandboxHasAClockThatCanBeMoved: no server has one, and no setting, variable or
// flag could give it one. Commands have the clock of the directory that they work on, and
// cannot move it.
func TestOnlyTheSandboxHasAClockThatCanBeMoved(t *testing.T) {
	makers := map[string]string{
		"app/cli/sandbox.go": "the sandbox", "app/datadir/datadir.go": "OpenForCommand",
		"app/tools/rig/rigtest/rigtest.go": "binaries of tests",
	}
	movers := []string{"app/cli/sandbox_open.go", "app/clock.go", "jobs/clock.go", "jobs/queue/move.go", "storage/clock.go"}

	made, moved := 0, 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if nameOf(n.Type) == "MovableClock" {
					made++
					if makers[s.path] == "" {
						t.Errorf("%s makes a clock that can be moved", s.path)
					}
				}
			case *ast.CallExpr:
				if nameOf(n.Fun) == "new" && len(n.Args) == 1 && nameOf(n.Args[0]) == "MovableClock" {
					t.Errorf("%s makes a clock that can be moved", s.path)
				}
			case *ast.ValueSpec:
				if nameOf(n.Type) == "MovableClock" {
					t.Errorf("%s declares a clock that can be moved", s.path)
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "MoveClock" || n.Sel.Name == "Advance" && !strings.HasPrefix(s.pkg, "app/tools") {
					moved++
					if !slices.Contains(movers, s.path) {
						t.Errorf("%s moves a clock", s.path)
					}
				}
			}
			return true
		})
	}
	if made != len(makers) || moved == 0 {
		t.Errorf("%d clocks are made and %d times one is moved: the test looks at nothing", made, moved)
	}
}

// nameOf is the name of a type or a function, without its package.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
