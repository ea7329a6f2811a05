package pages

import (
	_ "embed"
	"net/http"
	"path"
	"strings"

	"confab/app/pages/reference"
	"confab/app/theme"
)

//go:embed assets/onboard.css
var onboardStyle []byte

//go:embed assets/onboard.js
var onboardScript []byte

// asset is a file of the pages, under a name that changes with its content.
type asset struct {
	contentType string
	content     []byte
}

// assets are the files of the pages by the name that they are served under.
type assets map[string]asset

// newAssets makes all files. paths maps the plain name of a file to the path under which it is served.
func newAssets() (files assets, paths map[string]string) {
	files, paths = make(assets), make(map[string]string)
	for name, content := range map[string][]byte{
		"onboard.css": theme.WithTokens(onboardStyle), "onboard.js": onboardScript, "icon.svg": theme.Icon,
	} {
		extension := path.Ext(name)
		served := strings.TrimSuffix(name, extension) + "-" + reference.Version(content)[:12] + extension
		files[served] = asset{theme.ContentTypes[extension], content}
		paths[name] = OnboardPath + "assets/" + served
	}
	return files, paths
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
