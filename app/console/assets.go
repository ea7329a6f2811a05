package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"confab/app/theme"
)

// The files of the console are plain modules, style sheets and icons. There is no build
// step; what is sent differs from what is written in two ways only:
//
//   - Every file is served under a name with a hash of its content, so that browsers may
//     keep it for ever. Where a module names another file, the name is replaced by the
//     one it is served under, and the hash of a module covers what it uses.
//   - Comments, which hold the types, and indentation are left out. Lines keep their
//     numbers.
//
// Browsers get the modules in two bundles, and the style sheets in one (bundle.go).

//go:embed assets
var assetFiles embed.FS

// contentTypes are those of the assets by their extension. The tables of some systems
// lack them.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// asset is a file as it is served.
type asset struct {
	served      string // its name
	contentType string
	content     []byte
	gzipped     func() []byte // made when it is first asked for
}

// assets are all files, by their own names and by those under which they are served.
type assets struct {
	byName, byServed map[string]*asset
}

// readFiles reads the files of the console, and those of the theme, and bundles the style
// sheets: once, because all consoles of a build have the same.
var readFiles = sync.OnceValue(func() *assetBuilder {
	own, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // only for a bad path
	}
	b := newAssetBuilder(theme.Files, own)
	b.bundleStyles()
	return b
})

// readAssets is what readFiles has, and the bundles of the modules. These take most of a
// second, so nobody makes them who only looks at the door.
var readAssets = sync.OnceValue(func() *assets {
	files := readFiles()
	b := &assetBuilder{
		sources: files.sources,
		all:     &assets{byName: maps.Clone(files.all.byName), byServed: maps.Clone(files.all.byServed)},
	}
	b.bundle("app.js", screenModule("inbox"))
	return b.all
})

// Prepare makes what the screens consist of, before somebody asks for it.
func Prepare() {
	all := readAssets()
	for _, name := range []string{firstBundle, firstTexts, laterBundle, laterTexts, styleBundle} {
		all.byName[name].gzipped()
	}
}

// serveAsset serves a file or a bundle.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	all := readFiles().all
	if all.byServed[name] == nil {
		all = readAssets()
	}
	all.serve(w, r, name)
}

// newAssetBuilder reads all files of some file systems. A fault in them is one of the build.
func newAssetBuilder(trees ...fs.FS) *assetBuilder {
	b := &assetBuilder{
		sources: make(map[string][]byte),
		all:     &assets{byName: make(map[string]*asset), byServed: make(map[string]*asset)},
	}
	for _, tree := range trees {
		err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			b.sources[name], err = fs.ReadFile(tree, name)
			return err
		})
		if err != nil {
			panic(err) // embedded files can always be read
		}
	}

	for name := range b.sources {
		b.build(name)
	}
	return b
}

// bundle adds the two bundles of the modules, the first with all that entry and screen need.
func (b *assetBuilder) bundle(entry, screen string) {
	modules := newBundler(b.sources, b.all.name, screen, entry) // the entry comes last: it begins
	texts := b.add(laterTexts, modules.texts(modules.order[modules.firsts:]))
	later := b.add(laterBundle, withTexts(shorten(modules.later(), laterOrder), texts.served))
	texts = b.add(firstTexts, modules.texts(modules.order[:modules.firsts]))
	b.add(firstBundle, withTexts(shorten(modules.first(later.served), firstOrder), texts.served))
}

// bundleStyles adds the bundle of the style sheets.
func (b *assetBuilder) bundleStyles() {
	var styles []byte
	for _, name := range frameStyles {
		styles = append(styles, b.all.byName[name].content...)
	}
	b.add(styleBundle, styles)
}

// assetBuilder makes assets of the files.
type assetBuilder struct {
	sources map[string][]byte
	all     *assets
	path    []string // the files that are being built: each names the next
}

var (
	// fileName is a text in a module that names another file.
	fileName = regexp.MustCompile(`"(\.{1,2}/[a-z0-9_/.]+\.(?:js|svg|css))"`)
	// comment is a comment in slashes and stars, or one with a line of its own. The text
	// "image/*" begins none.
	comment = regexp.MustCompile(`(?m)\B/\*[^*]*\*+(?:[^/*][^*]*\*+)*/ ?|^[ \t]*//.*$`)
	// indentation is the space before a line.
	indentation = regexp.MustCompile(`(?m)^[ \t]+`)
)

// build makes the asset of a file, after those of the files that it names.
func (b *assetBuilder) build(name string) *asset {
	if a := b.all.byName[name]; a != nil {
		return a
	}

	source, ok := b.sources[name]
	if !ok || slices.Contains(b.path, name) {
		panic("console: " + strings.Join(b.path, " → ") + " → " + name + " is missing, or leads back to itself")
	}
	b.path = append(b.path, name)
	defer func() { b.path = b.path[:len(b.path)-1] }()

	extension := path.Ext(name)
	a := &asset{contentType: contentTypes[extension], content: source}
	if extension != ".svg" {
		a.content = slim(source)
	}
	if extension == ".js" {
		a.content = fileName.ReplaceAllFunc(a.content, func(quoted []byte) []byte { return b.replaceName(name, quoted) })
	}

	return b.keep(name, a)
}

// add adds a module that is made here.
func (b *assetBuilder) add(name string, content []byte) *asset {
	return b.keep(name, &asset{contentType: contentTypes[path.Ext(name)], content: content})
}

// keep gives an asset the name under which it is served.
func (b *assetBuilder) keep(name string, a *asset) *asset {
	extension := path.Ext(name)
	sum := sha256.Sum256(a.content)
	a.served = strings.TrimSuffix(name, extension) + "-" + hex.EncodeToString(sum[:4]) + extension
	a.gzipped = sync.OnceValue(func() []byte { return compress(a.content) })
	b.all.byName[name], b.all.byServed[a.served] = a, a
	return a
}

// slim leaves out comments and indentation. Lines keep their numbers.
func slim(source []byte) []byte {
	source = comment.ReplaceAllFunc(source, func(found []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(found, []byte("\n")))
	})
	return indentation.ReplaceAll(source, nil)
}

// replaceName replaces what a module calls another file by the name under which that one
// is served, seen from the module.
func (b *assetBuilder) replaceName(module string, quoted []byte) []byte {
	given := strings.Trim(string(quoted), `"`)
	served := b.build(path.Join(path.Dir(module), given)).served
	return []byte(`"` + strings.TrimSuffix(given, path.Base(given)) + path.Base(served) + `"`)
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
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = file.gzipped()
	}

	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		w.Write(content)
	}
}
