package e2e

import (
	"fmt"
	"testing"
)

// TestModulesInABrowser runs the tests of modules that need a document.
func TestModulesInABrowser(t *testing.T) {
	parallelBrowser(t)
	b := openWindow(t)
	at := serveModules(t)
	for module, least := range map[string]int{"dom_test": 20, "formatted_test": 2} {
		b.Visit(at + module + ".html")
		runModuleTests(t, b, module, least)
	}
	for _, complaint := range b.Errors() {
		t.Error(complaint)
	}
}

// runModuleTests runs the tests that a module of the testdata exports, of which there are at
// least so many.
func runModuleTests(t *testing.T, b *window, module string, least int) {
	t.Helper()
	tests := fmt.Sprintf(`import("./%s.js").then(m => m.tests)`, module)
	names := eval[[]string](b, tests+`.then(Object.keys)`)
	if len(names) < least {
		t.Fatalf("only %d tests were found", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			run := fmt.Sprintf(`.then(async tests => { try { await tests[%q](); return "" } catch (e) { return String(e.stack) } })`, name)
			if problem := eval[string](b, tests+run); problem != "" {
				t.Error(problem)
			}
		})
	}
}
