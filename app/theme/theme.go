// Package theme holds what every page looks like: the design tokens (colours, spaces and
// type, for light and dark), the icon, and the script that applies a chosen theme.
package theme

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
)

// Files are tokens.css, theme.js, icon.svg, and the icon as the systems of phones take it.
//
//go:embed tokens.css theme.js icon.svg icon-192.png icon-512.png
var Files embed.FS

// Tokens is the style sheet of the tokens.
//
//go:embed tokens.css
var Tokens []byte

// Script applies the theme that was chosen in the browser. It must run before anything
// is painted.
//
//go:embed theme.js
var Script []byte

// Icon is the icon of every page, as SVG.
//
//go:embed icon.svg
var Icon []byte

// ContentTypes are those of the files of pages by their extension. The tables of some systems lack them.
var ContentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".map":  "application/json",
	".png":  "image/png",
	".svg":  "image/svg+xml",
}

// WritePage answers with a page that a template makes, in a language that the client accepts. If
// the template fails it answers with 500, and returns the error.
func WritePage(w http.ResponseWriter, r *http.Request, status int, t *template.Template, data any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return err
	}

	w.Header().Set("Content-Type", ContentTypes[".html"])
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(b.Bytes())
	}
	return nil
}

// WithTokens puts the tokens before a style sheet that uses them.
func WithTokens(sheet []byte) []byte { return append(append([]byte(nil), Tokens...), sheet...) }
