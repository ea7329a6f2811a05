package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// contentTypes are those of the assets by their extension. The tables of some systems
// lack them.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// asset is a file of the pages.
type asset struct {
	contentType      string
	content, gzipped []byte
}

// assets are the files of the pages by the name that they are served under, which
// changes with the content.
type assets map[string]asset

// readAssets reads all files. names maps the name of a file in this package to the one
// under which it is served.
func readAssets() (files assets, names map[string]string) {
	files, names = make(assets), make(map[string]string)
	found, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		panic(err) // only for a bad pattern
	}

	for _, name := range found {
		content, err := assetFiles.ReadFile(name)
		if err != nil {
			panic(err) // embedded files can always be read
		}

		sum := sha256.Sum256(content)
		base, extension := path.Base(name), path.Ext(name)
		served := strings.TrimSuffix(base, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		files[served] = asset{contentTypes[extension], content, compress(content)}
		names[base] = served
	}
	return files, names
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // only for a bad level
	}
	w.Write(content) // into memory, which does not fail
	w.Close()
	return b.Bytes()
}

// serve serves a file of the pages. Its name contains a hash of its content, so browsers
// may keep it for ever.
func (all assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, ok := all[name]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}

	h := w.Header()
	h.Set("Content-Type", file.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding")

	content := file.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = file.gzipped
	}

	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		w.Write(content)
	}
}
