package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"confab/app/theme"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file of the pages, under a name that changes with its content.
type asset struct {
	contentType string
	content     []byte
}

// assets are the files of the pages by the name that they are served under.
type assets map[string]asset

// readAssets reads all files. paths maps the name of a file in this package to the path
// under which it is served.
func readAssets() (files assets, paths map[string]string) {
	files, paths = make(assets), make(map[string]string)
	names, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		panic(err) // only for a bad pattern
	}

	add := func(base string, content []byte) {
		sum := sha256.Sum256(content)
		extension := path.Ext(base)
		served := strings.TrimSuffix(base, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		files[served] = asset{contentTypeOf(extension), content}
		paths[base] = OnboardPath + "assets/" + served
	}

	for _, name := range names {
		content, err := assetFiles.ReadFile(name)
		if err != nil {
			panic(err) // embedded files can always be read
		}
		if path.Ext(name) == ".css" {
			content = theme.WithTokens(content)
		}
		add(path.Base(name), content)
	}
	add("icon.svg", theme.Icon)
	return files, paths
}

// contentTypeOf returns the media type for an extension. The common ones are listed
// here, because the tables of some systems lack them.
func contentTypeOf(extension string) string {
	switch extension {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(extension)
	}
}

// serve serves a file of the pages. Its name contains a hash of its content, so
// browsers may cache it for ever.
func (all assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, ok := all[name]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}

	h := w.Header()
	h.Set("Content-Type", file.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")

	if r.Method != http.MethodHead {
		w.Write(file.content)
	}
}
