package console

import (
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"confab/app/console/bundle"
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
	trees := []fs.FS{theme.Files, os.DirFS("assets"), os.DirFS("testdata")}
	files, err := bundle.Files(trees, "dom_test.js", "gallery.js", "theme.js", "icon.svg", "base.css", "page.css", "screens.css")
	if err != nil {
		t.Fatal(err)
	}
	all := &assets{byName: make(map[string]*asset), byServed: make(map[string]*asset)}
	for name, content := range files {
		all.add(name, bundle.Compress(content))
	}

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

// testPage is the data of a page of the test build.
type testPage struct {
	all  *assets
	Name string
}

func (p testPage) Asset(name string) string { return "assets/" + p.all.name(name) }
func (p testPage) Module() string           { return p.Name + ".js" }
