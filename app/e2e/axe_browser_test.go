package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var axeFile = flag.String("axe", "", "axe.min.js of axe-core: each page of which a picture could be taken is examined by it")

// axeSource is the text of axe-core.
var axeSource = sync.OnceValues(func() ([]byte, error) { return os.ReadFile(*axeFile) })

// keepPicture takes a picture of a page as it is now, and lets axe-core examine it, as the
// flags ask.
func keepPicture(t *testing.T, b *window, name string) {
	t.Helper()
	if *screenshots != "" {
		if err := os.MkdirAll(*screenshots, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), b.Screenshot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *axeFile != "" {
		examine(t, b, name)
	}
}

// examine lets axe-core look for what keeps people out of a page as it is now. It is
// evaluated through the browser's own tools, which the page's policy does not concern.
func examine(t *testing.T, b *window, name string) {
	t.Helper()
	source, err := axeSource()
	if err != nil {
		t.Fatal(err)
	}
	eval[bool](b, `typeof axe === "object" || (`+asFunction(string(source))+`)()`)
	for _, found := range eval[[]string](b, `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(r => r.violations.flatMap(
		v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))))`) {
		t.Errorf("%s: %s", name, found)
	}
}

// asFunction makes a script a function, whose declarations are not the page's.
func asFunction(script string) string {
	return "() => {\n" + strings.TrimSpace(script) + "\nreturn true }"
}
