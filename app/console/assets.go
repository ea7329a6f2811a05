package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"

	"confab/app/theme"
)

// The files of the console are plain modules, style sheets and icons. Browsers get bundles of
// them (bundle.go), each under a name with a hash of its content, so that they may keep it for
// ever.

//go:embed assets
var assetFiles embed.FS

// pageEntries are what every page is made of, besides its script.
var pageEntries = []string{"theme.js", "icon.svg", "base.css", "page.css", "screens.css"}

// contentTypes are those of the assets by their extension. The tables of some systems
// lack them.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".map": "application/json",
	".svg": "image/svg+xml",
}

// asset is a file as it is served.
type asset struct {
	served          string // its name
	contentType     string
	content         []byte
	brotli, gzipped func() []byte // made when it is first asked for
}

// assets are all files, by their own names and by those under which they are served.
type assets struct {
	byName, byServed map[string]*asset
	chunks           []string // served names of scripts that several others import
}

// These are built once, because all consoles of a process have the same.
var (
	consoleAssets = sync.OnceValue(func() *assets { return build(false, "app.js") })
	sandboxAssets = sync.OnceValue(func() *assets { return build(true, "app.js") })
	phoneAssets   = sync.OnceValue(func() *assets { return build(false, "solo.js") })
)

// build builds the assets of a page with this script. A fault in them is one of the program.
func build(withMaps bool, script string) *assets {
	own, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // only for a bad path
	}
	all, err := bundle([]fs.FS{own, theme.Files}, withMaps, append(pageEntries, script)...)
	if err != nil {
		panic("console: " + err.Error())
	}
	return all
}

// assets are those of this console. In a sandbox scripts have source maps.
func (c *Console) assets() *assets {
	if c.SandboxUser != nil {
		return sandboxAssets()
	}
	return consoleAssets()
}

// Prepare makes what the screens consist of, before the first visit.
func (c *Console) Prepare() {
	for _, file := range c.assets().byName {
		file.brotli()
	}

	// The bundler leaves 50 MB of garbage, and is not needed again. It keeps what it built for
	// a quarter of a second.
	time.AfterFunc(time.Second, debug.FreeOSMemory)
}

// add adds a file under the name by which it is served.
func (all *assets) add(served string, content []byte) {
	a := &asset{served: served, contentType: contentTypes[path.Ext(served)], content: content}
	a.brotli = compressed(content, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	a.gzipped = compressed(content, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })

	all.byServed[served] = a
	if strings.HasPrefix(served, "chunk-") && path.Ext(served) == ".js" {
		all.chunks = append(all.chunks, served)
	} else if name := hash.ReplaceAllString(served, "$1"); name != served {
		all.byName[name] = a
	}
}

// compressed compresses a content once, when it is first asked for.
func compressed(content []byte, newWriter func(io.Writer) io.WriteCloser) func() []byte {
	return sync.OnceValue(func() []byte {
		var b bytes.Buffer
		w := newWriter(&b)
		w.Write(content) // to memory, which cannot fail
		w.Close()
		return b.Bytes()
	})
}

// name is the name under which a file is served; "" if there is none.
func (all *assets) name(file string) string {
	if a := all.byName[file]; a != nil {
		return a.served
	}
	return ""
}

// serve serves a file. Its name contains a hash of its content, so browsers may keep it
// for ever.
func (all *assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, ok := all.byServed[name]
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
	switch accepted := r.Header.Get("Accept-Encoding"); {
	case accepts(accepted, "br"):
		h.Set("Content-Encoding", "br")
		content = file.brotli()
	case accepts(accepted, "gzip"):
		h.Set("Content-Encoding", "gzip")
		content = file.gzipped()
	}

	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		w.Write(content)
	}
}

// accepts reports whether an Accept-Encoding header names a coding. Browsers that name one
// never refuse it by q=0.
func accepts(header, coding string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(one, ";")
		if strings.TrimSpace(name) == coding {
			return true
		}
	}
	return false
}
