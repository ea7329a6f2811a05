package console

import (
	"fmt"
	"testing"

	"confab/app/pages/pagestest"
)

func TestTheModuleOfElementsInABrowser(t *testing.T) {
	build := serveTestBuild(t)
	b := pagestest.Open(t)
	b.Visit(build.url + "dom_test.html")

	tests := fmt.Sprintf(`import("./assets/%s").then(m => m.tests)`, build.all.name("dom_test.js"))
	names := pagestest.Eval[[]string](b, tests+`.then(Object.keys)`)
	if len(names) < 20 {
		t.Fatalf("only %d tests were found", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			run := fmt.Sprintf(`.then(async tests => { try { await tests[%q](); return "" } catch (e) { return String(e.stack) } })`, name)
			if problem := pagestest.Eval[string](b, tests+run); problem != "" {
				t.Error(problem)
			}
		})
	}
	for _, complaint := range b.Errors() {
		t.Error(complaint)
	}
}
