package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"confab/app/theme"
	"confab/jobs/language"
)

// The files of the console are plain modules, style sheets and icons. Browsers get bundles of
// them (app/tools/bundle), each under a name with a hash of its content, so that they may keep it
// for ever. After an edit of a module `make generate` makes them again.

//go:embed built
var builtFiles embed.FS

// sourceFiles are the modules themselves, which a sandbox shows to those who debug a screen.
//
//go:embed assets
var sourceFiles embed.FS

// asset is a file as it is served.
type asset struct {
	served      string // its name
	contentType string
	brotli      []byte
	content     func() []byte // for who takes no brotli; these two are made when they are asked for
	gzipped     func() []byte
}

// assets are all files, by their own names and by those under which they are served.
type assets struct {
	byName, byServed map[string]*asset
	chunks           map[string][]string // served names of scripts that several others import, by their language
	withMaps         bool                // of the scripts, and with the modules that they name
}

// All consoles of a process have the same.
var (
	consoleAssets = sync.OnceValue(func() *assets { return readAssets("built/console", false) })
	sandboxAssets = sync.OnceValue(func() *assets { return readAssets("built/console", true) })
	phoneAssets   = sync.OnceValue(func() *assets { return readAssets("built/phone", false) })
)

var (
	// hash is the part of a served name that changes with the content.
	hash = regexp.MustCompile(`-[A-Z0-9]{8}(\.\w+)$`)
	// chunk is the name of a chunk without it. English ones have no language.
	chunk = regexp.MustCompile(`^chunk(?:\.([\w-]+))?\.js$`)
	// brotliCoding is how an Accept-Encoding header names it.
	brotliCoding = regexp.MustCompile(`\bbr\b`)
)

// readAssets reads the files of a directory, in the order of their names.
func readAssets(dir string, withMaps bool) *assets {
	all := &assets{
		byName: make(map[string]*asset), byServed: make(map[string]*asset), chunks: make(map[string][]string), withMaps: withMaps,
	}
	names, err := fs.Glob(builtFiles, dir+"/*.br")
	if err != nil {
		panic(err) // only for a bad pattern
	}
	for _, name := range names {
		compressed, err := builtFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		if served := strings.TrimSuffix(path.Base(name), ".br"); withMaps || path.Ext(served) != ".map" {
			all.add(served, compressed)
		}
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

// add adds a file under the name by which it is served.
func (all *assets) add(served string, compressed []byte) {
	a := &asset{served: served, contentType: theme.ContentTypes[path.Ext(served)], brotli: compressed}
	a.content = sync.OnceValue(func() []byte { return decompress(compressed) })
	a.gzipped = sync.OnceValue(func() []byte { return gzipOf(a.content()) })

	all.byServed[served] = a
	name := hash.ReplaceAllString(served, "$1")
	if found := chunk.FindStringSubmatch(name); found != nil {
		spoken := cmp.Or(found[1], language.English)
		all.chunks[spoken] = append(all.chunks[spoken], served)
	} else if name != served {
		all.byName[name] = a
	}
}

// decompress is for embedded files, which cannot be broken.
func decompress(compressed []byte) []byte {
	content, err := io.ReadAll(brotli.NewReader(bytes.NewReader(compressed)))
	if err != nil {
		panic(err)
	}
	return content
}

func gzipOf(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content) // to memory, which cannot fail
	w.Close()
	return b.Bytes()
}

// name is the name under which a file is served; "" if there is none.
func (all *assets) name(file string) string {
	if a := all.byName[file]; a != nil {
		return a.served
	}
	return ""
}

// script is the name under which a script is served in a language, or in English if there is no other.
func (all *assets) script(name, spoken string) string {
	return cmp.Or(all.name(name+"."+spoken+".js"), all.name(name+".js"))
}

// chunksOf are the served names of what the scripts in a language import.
func (all *assets) chunksOf(spoken string) []string {
	if own, ok := all.chunks[spoken]; ok {
		return own
	}
	return all.chunks[language.English]
}

// serve serves a file. Its name contains a hash of its content, so browsers may keep it
// for ever.
func (all *assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, ok := all.byServed[name]
	switch {
	case ok && (r.Method == http.MethodGet || r.Method == http.MethodHead):
	case all.withMaps && path.Ext(name) == ".js":
		http.ServeFileFS(w, r, sourceFiles, "assets/"+name)
		return
	default:
		http.NotFound(w, r)
		return
	}

	h := w.Header()
	h.Set("Content-Type", file.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding")
	if all.byServed[name+".map"] != nil {
		h.Set("SourceMap", name+".map")
	}

	// Browsers that name a coding never refuse it by q=0.
	var content []byte
	switch accepted := r.Header.Get("Accept-Encoding"); {
	case brotliCoding.MatchString(accepted):
		h.Set("Content-Encoding", "br")
		content = file.brotli
	case strings.Contains(accepted, "gzip"):
		h.Set("Content-Encoding", "gzip")
		content = file.gzipped()
	default:
		content = file.content()
	}

	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		w.Write(content)
	}
}
