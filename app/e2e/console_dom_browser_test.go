package e2e

import (
	"fmt"
	"testing"
)

func TestTheModuleOfElementsInABrowser(t *testing.T) {
	parallelBrowser(t)
	b := openWindow(t)
	b.Visit(serveModules(t) + "dom_test.html")

	const tests = `import("./dom_test.js").then(m => m.tests)`
	names := eval[[]string](b, tests+`.then(Object.keys)`)
	if len(names) < 20 {
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
