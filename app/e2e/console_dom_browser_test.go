package e2e

import (
	"fmt"
	"testing"
)

func TestTheModuleOfElementsInABrowser(t *testing.T) { runModuleTests(t, "dom_test", 20) }

func TestFormattedTextInABrowser(t *testing.T) { runModuleTests(t, "formatted_test", 2) }

// runModuleTests runs the tests that a module of the testdata exports, of which there are at
// least so many.
func runModuleTests(t *testing.T, module string, least int) {
	parallelBrowser(t)
	b := openWindow(t)
	b.Visit(serveModules(t) + module + ".html")

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
	for _, complaint := range b.Errors() {
		t.Error(complaint)
	}
}
