package pages

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"confab/app/pages/reference"
)

// DocsPath is where the API reference is.
const DocsPath = "/docs"

// docsPolicy lets the page use its own style and script, and nothing of others.
const docsPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// DocsOptions configure a Docs.
type DocsOptions struct {
	Description []byte // openapi.json
	BaseURL     string // of the API
	// WriteError answers what cannot be shown, in the form that all errors have.
	WriteError func(http.ResponseWriter, *http.Request, error)
}

// Docs serves the API reference. It is made when somebody asks first.
type Docs struct {
	DocsOptions
	files func() (map[string]docsFile, error)
}

// docsFile is a file as it is sent.
type docsFile struct {
	kind    string
	plain   []byte
	zipped  []byte
	version string
}

// NewDocs makes a server of the reference.
func NewDocs(o DocsOptions) *Docs {
	d := &Docs{DocsOptions: o}
	d.files = sync.OnceValues(d.make)
	return d
}

func (d *Docs) make() (map[string]docsFile, error) {
	page, err := reference.Render(d.Description, reference.Options{BaseURL: d.BaseURL, Path: DocsPath})
	if err != nil {
		return nil, err
	}
	files := map[string]docsFile{
		DocsPath:               {kind: "text/html; charset=utf-8", plain: page},
		DocsPath + "/page.css": {kind: "text/css; charset=utf-8", plain: reference.Style},
		DocsPath + "/page.js":  {kind: "text/javascript; charset=utf-8", plain: reference.Script},
	}
	for path, f := range files {
		f.version = `"` + reference.Version(f.plain) + `"`
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write(f.plain); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		f.zipped = zipped.Bytes()
		files[path] = f
	}
	return files, nil
}

// ErrNoPage means that there is nothing at a path.
var ErrNoPage = errors.New("there is no such page")

// ServeHTTP answers one request.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		d.WriteError(w, r, ErrMethod)
		return
	}
	if r.URL.Path == DocsPath+"/" {
		http.Redirect(w, r, DocsPath, http.StatusMovedPermanently)
		return
	}
	files, err := d.files()
	if err != nil {
		d.WriteError(w, r, err)
		return
	}
	f, ok := files[r.URL.Path]
	if !ok {
		d.WriteError(w, r, ErrNoPage)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // asked again each time, and mostly answered with 304
	h.Set("Vary", "Accept-Encoding")
	content := f.plain
	h.Set("Etag", f.version)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content = f.zipped
		h.Set("Content-Encoding", "gzip")
		h.Set("Etag", strings.TrimSuffix(f.version, `"`)+`-gzip"`)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
