package console

import (
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"confab/app/theme"
)

// testBuild is the console's assets with the modules of testdata beside them.
type testBuild struct {
	url string // of /console/
	all *assets
}

// serveTestBuild serves it, under the policy of the console: NAME.html is a page that
// runs the module NAME.js.
func serveTestBuild(t *testing.T) testBuild {
	t.Helper()
	modules := make(fstest.MapFS)
	found, err := filepath.Glob("testdata/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		modules[filepath.Base(name)] = &fstest.MapFile{Data: content}
	}

	all := newAssets(theme.Files, os.DirFS("assets"), modules)
	page := template.Must(template.ParseFiles("testdata/page.html"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if name, ok := strings.CutPrefix(r.URL.Path, Path+"assets/"); ok {
			all.serve(w, r, name)
			return
		}
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, Path), ".html")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Execute(w, testPage{all, name}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return testBuild{server.URL + Path, all}
}

// newAssets reads all files of some file systems, and bundles nothing.
func newAssets(trees ...fs.FS) *assets { return newAssetBuilder(trees...).all }

// testPage is the data of a page of the test build.
type testPage struct {
	all  *assets
	Name string
}

func (p testPage) Asset(name string) string { return "assets/" + p.all.name(name) }
func (p testPage) Module() string           { return p.Name + ".js" }
