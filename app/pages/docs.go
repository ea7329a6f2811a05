package pages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"confab/app/api/rest"
	"confab/app/pages/guides"
	"confab/app/pages/reference"
	"confab/app/theme"
)

// Where the API reference is, and the index of the guides.
const (
	DocsPath   = reference.Path
	GuidesPath = DocsPath + "/guides/"
)

// docsPolicy lets the page use its own style and script, and nothing of others.
const docsPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// DocsOptions configure a Docs.
type DocsOptions struct {
	Description []byte                                          // openapi.json
	BaseURL     string                                          // of the API
	WriteError  func(http.ResponseWriter, *http.Request, error) // writes the answer for an error
}

// Docs serves the API reference and the guides. They are built at the first request.
type Docs struct {
	DocsOptions
	files func() map[string]docsFile
}

// docsFile is one of the files, ready to be sent.
type docsFile struct {
	contentType string
	plain       []byte
	gzipped     []byte
	etag        string
}

// NewDocs makes a handler that serves the reference and the guides.
func NewDocs(o DocsOptions) *Docs {
	d := &Docs{DocsOptions: o}
	d.files = sync.OnceValue(d.build)
	return d
}

// build renders everything and compresses its files, by the path of each.
func (d *Docs) build() map[string]docsFile {
	files := map[string]docsFile{
		DocsPath:               {contentType: theme.ContentTypes[".html"], plain: reference.Render(d.Description, d.BaseURL)},
		DocsPath + "/page.css": {contentType: theme.ContentTypes[".css"], plain: reference.Style()},
		DocsPath + "/page.js":  {contentType: theme.ContentTypes[".js"], plain: reference.Script},
		DocsPath + "/theme.js": {contentType: theme.ContentTypes[".js"], plain: theme.Script},
	}
	for name, content := range guides.Render() {
		extension := cmp.Or(path.Ext(name), ".html")
		files[GuidesPath+name] = docsFile{contentType: theme.ContentTypes[extension], plain: content}
	}

	for at, f := range files {
		var gzipped bytes.Buffer
		z := gzip.NewWriter(&gzipped)
		z.Write(f.plain) // to memory, which cannot fail
		z.Close()
		f.etag, f.gzipped = `"`+reference.Version(f.plain)+`"`, gzipped.Bytes()
		files[at] = f
	}
	return files
}

// ServeHTTP answers one request.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := RefuseMethod(r); err != nil {
		d.WriteError(w, r, err)
		return
	}
	switch r.URL.Path {
	case DocsPath + "/":
		http.Redirect(w, r, DocsPath, http.StatusMovedPermanently)
		return
	case strings.TrimSuffix(GuidesPath, "/"):
		http.Redirect(w, r, GuidesPath, http.StatusMovedPermanently)
		return
	}

	f, ok := d.files()[r.URL.Path]
	if !ok {
		d.WriteError(w, r, &rest.Error{Code: rest.ResourceNotFound, Message: "There is no such page."})
		return
	}

	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // revalidated each time, and mostly answered with 304
	h.Set("Vary", "Accept-Encoding")

	// Each encoding has an ETag of its own: the bytes differ.
	content := f.plain
	h.Set("Etag", f.etag)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content = f.gzipped
		h.Set("Content-Encoding", "gzip")
		h.Set("Etag", strings.TrimSuffix(f.etag, `"`)+`-gzip"`)
	}

	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
