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
)

//go:embed assets
var assetFiles embed.FS

// asset is a file of the pages, under a name that changes with its content.
type asset struct {
	kind    string
	content []byte
}

// assets are the files of the pages by the name that they are served under.
type assets map[string]asset

// readAssets reads all files. It also tells where each is served, by the name
// that it has here.
func readAssets() (files assets, paths map[string]string) {
	files, paths = make(assets), make(map[string]string)
	names, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		panic(err) // only for a bad pattern
	}
	for _, name := range names {
		content, err := assetFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		sum := sha256.Sum256(content)
		base, extension := path.Base(name), path.Ext(name)
		served := strings.TrimSuffix(base, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		files[served] = asset{typeOf(extension), content}
		paths[base] = OnboardPath + "assets/" + served
	}
	return files, paths
}

// typeOf is the type of a file. It does not ask the system, which may know less.
func typeOf(extension string) string {
	switch extension {
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

// serve serves a file of the pages. Its name stands for its content, so it
// may be kept for ever.
func (all assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, ok := all[name]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodHead {
		w.Write(file.content)
	}
}
