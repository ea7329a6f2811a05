package e2e

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"confab/app/console"
	"confab/app/theme"
)

// serveModules serves the console's modules as they are written, and those of its testdata
// beside them, under the console's policy: NAME.html is a page that runs the module NAME.js.
// It returns the URL of their directory.
func serveModules(t *testing.T) string {
	t.Helper()
	trees := []fs.FS{theme.Files, os.DirFS("../console/assets"), os.DirFS("../console/testdata")}
	page := template.Must(template.ParseFiles("../console/testdata/page.html"))
	policy := consolePolicy(t)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, console.Path)
		w.Header().Set("Content-Security-Policy", policy)

		if module, ok := strings.CutSuffix(name, ".html"); ok {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if err := page.Execute(w, module); err != nil {
				t.Error(err)
			}
			return
		}
		// A module that imports a picture gets its address; the bundler does the same.
		if path.Ext(name) == ".svg" && r.Header.Get("Sec-Fetch-Dest") == "script" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "export default %q", r.URL.Path)
			return
		}
		for _, tree := range trees {
			content, err := fs.ReadFile(tree, name)
			if err != nil {
				continue
			}
			if path.Ext(name) == ".js" { // the texts are those of a language, as the bundler has it
				content = bytes.ReplaceAll(content, []byte(`from "texts/`), []byte(`from "`+console.Path+`texts/en/`))
			}
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + console.Path
}

// consolePolicy returns the Content-Security-Policy of the console's pages.
func consolePolicy(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	console.NewPhone(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, console.PhonePath, nil))
	policy := w.Header().Get("Content-Security-Policy")
	if policy == "" {
		t.Fatal("the console has no policy")
	}
	return policy
}
