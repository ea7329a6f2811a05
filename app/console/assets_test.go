package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/app/theme"
	"confab/jobs/language"
)

func TestSourceMapsAreOnlyForSandboxes(t *testing.T) {
	is := is.New(t)
	get := func(all *assets, name string) *http.Response {
		w := httptest.NewRecorder()
		all.serve(w, httptest.NewRequest("GET", "/", nil), name)
		return w.Result()
	}
	for served := range consoleAssets().byServed {
		is.True(path.Ext(served) != ".map")
	}
	app := consoleAssets().name("app.js")
	is.Equal(get(consoleAssets(), app).Header.Get("SourceMap"), "")
	is.Equal(get(consoleAssets(), "app.js").StatusCode, 404)

	name := get(sandboxAssets(), app).Header.Get("SourceMap")
	is.Equal(name, app+".map")
	var sourceMap struct{ Sources []string }
	is.NoErr(json.NewDecoder(get(sandboxAssets(), name).Body).Decode(&sourceMap))
	is.True(slices.Contains(sourceMap.Sources, "app.js"))
	for _, source := range sourceMap.Sources {
		is.Equal(get(sandboxAssets(), source).StatusCode, 200) // relative to the map's own address
	}
}

// allSources are the files of the console and of the theme, by their names.
func allSources(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, tree := range []fs.FS{theme.Files, os.DirFS("assets")} {
		err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(tree, name)
			all[name] = string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var (
	definition = regexp.MustCompile(`(--[a-z0-9-]+):`)
	usage      = regexp.MustCompile(`var\((--[a-z0-9-]+)\)`)
	jsComment  = regexp.MustCompile(`/\*.*?\*/ ?|^\s*(?:\*|//).*`) // in a line
	rawColour  = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb\(`)
)

func TestFilesAreOursAndPlain(t *testing.T) {
	files := allSources(t)
	defined := make(map[string]bool)
	for _, text := range files {
		for _, found := range definition.FindAllStringSubmatch(text, -1) {
			defined[found[1]] = true
		}
	}

	for name, text := range files {
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "//#", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), word) {
				t.Errorf("%s: %s", name, word)
			}
		}
		for _, found := range usage.FindAllStringSubmatch(text, -1) {
			if !defined[found[1]] {
				t.Errorf("%s: %s is not defined", name, found[1])
			}
		}
		if lines := strings.Count(text, "\n"); lines > 400 {
			t.Errorf("%s has %d lines", name, lines)
		}
		for i, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(jsComment.ReplaceAllString(line, ""))
			if path.Ext(name) == ".js" && utf8.RuneCountInString(line) > 140 {
				t.Errorf("%s:%d has %d characters", name, i+1, utf8.RuneCountInString(line))
			}
		}
		if path.Ext(name) == ".css" && name != "tokens.css" && rawColour.MatchString(text) {
			t.Errorf("%s: a raw colour; the tokens have them all", name)
		}
	}
}

func TestEveryFileIsUsed(t *testing.T) {
	entries := []string{"app.js", "passkey.js", "sw.js", "icon-192.png", "icon-512.png", "solo.js", "theme.js", "icon.svg", "base.css", "page.css", "screens.css"}
	files := allSources(t)
	for name := range files {
		imported := regexp.MustCompile(`"[./a-z_]*/` + regexp.QuoteMeta(path.Base(name)) + `"`)
		isUsed := slices.Contains(entries, name) || path.Ext(name) == ".md"
		for other, text := range files {
			isUsed = isUsed || other != name && imported.MatchString(text)
		}
		if !isUsed {
			t.Errorf("%s is not imported", name)
		}
	}
}

func TestEveryIconThatIsNamedIsDrawn(t *testing.T) {
	files := allSources(t)
	drawn := make(map[string]bool)
	for _, found := range regexp.MustCompile(`symbol id="([a-z]+)"`).FindAllStringSubmatch(files["icons.svg"], -1) {
		drawn[found[1]] = true
	}
	named := regexp.MustCompile(`icon\("([a-z]+)"\)|icon: "([a-z]+)"`)
	for name, text := range files {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if icon := found[1] + found[2]; !drawn[icon] {
				t.Errorf("%s: there is no icon %q", name, icon)
			}
		}
	}
	for _, s := range screens {
		if !s.hidden && !drawn[s.Path] {
			t.Errorf("there is no icon %q", s.Path)
		}
	}
}

// The log is narrowed to errors that the API has.
func TestEveryErrorThatTheLogOffersExists(t *testing.T) {
	_, list, _ := strings.Cut(allSources(t)["screens/log/calls.js"], "const codes = [")
	list, _, _ = strings.Cut(list, "];")
	found := regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1)
	if len(found) < 20 {
		t.Fatal("there are only", len(found))
	}
	for _, one := range found {
		if _, ok := rest.Codes[one[1]]; !ok {
			t.Errorf("the API has no error %q", one[1])
		}
	}
}

// Bars of the wire, in bytes of brotli.
const (
	mostScripts = 130 << 10 // of all screens
	mostFirst   = 70 << 10  // before the inbox works
	mostStyles  = 20 << 10
)

func TestWhatIsSentIsSmall(t *testing.T) {
	all := consoleAssets()
	size := func(served ...string) (n int) {
		for _, name := range served {
			one := len(all.byServed[name].brotli)
			t.Logf("%6d %s", one, name)
			n += one
		}
		return n
	}
	check := func(what string, got, most, percent int, advice string) {
		t.Helper()
		t.Logf("%s: %d of %d", what, got, most)
		if got > most*percent/100 {
			t.Errorf("%s: %d bytes, and %d are the most; this test fails at %d %% of that, while there is still time. "+
				"Do not make the code denser: %s. If nothing is left to be taken away, raise the bar here and in the plan, and say why.",
				what, got, most, percent, advice)
		}
	}

	// All that was planned when the bar was set is there: what is left is for mends.
	for _, spoken := range language.All() {
		first := size(all.name("theme.js"), all.script("app", spoken)) + size(all.chunksOf(spoken)...)
		scripts := first + size(all.script("screens", spoken), all.name("passkey.js"))
		check(spoken+": scripts of all screens", scripts, mostScripts, 97,
			"look for code that two screens have twice, and for texts that nobody reads")
		check(spoken+": scripts before the inbox works", first, mostFirst, 90,
			"import parts of the inbox that are seldom opened with import(), as app.js does with screens.js")
	}
	check("style sheets", size(all.name("base.css"), all.name("screens.css"), all.name("page.css")), mostStyles, 90,
		"look for rules that no element has any more, and for rules of one screen that parts.css has for all")
}

func TestAssetsAreKeptForEverAndCompressed(t *testing.T) {
	is := is.New(t)
	all := consoleAssets()
	get := func(method, name, encoding string) *http.Response {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, "/", nil)
		r.Header.Set("Accept-Encoding", encoding)
		all.serve(w, r, name)
		return w.Result()
	}
	read := func(r io.Reader) []byte {
		content, err := io.ReadAll(r)
		is.NoErr(err)
		return content
	}

	for name, kind := range map[string]string{"app.js": "text/javascript; charset=utf-8", "screens.css": "text/css; charset=utf-8", "icons.svg": "image/svg+xml"} {
		res := get("GET", all.name(name), "zstd, brx")
		plain := read(res.Body)
		is.Equal(res.StatusCode, 200)
		is.Equal(res.Header.Get("Content-Type"), kind)
		is.Equal(res.Header.Get("Cache-Control"), "public, max-age=31536000, immutable")
		is.Equal(res.Header.Get("Content-Encoding"), "")

		res = get("GET", all.name(name), "gzip, deflate, br;q=1.0")
		is.Equal(res.Header.Get("Content-Encoding"), "br")
		is.True(bytes.Equal(read(brotli.NewReader(res.Body)), plain))

		res = get("GET", all.name(name), "deflate, gzip")
		is.Equal(res.Header.Get("Content-Encoding"), "gzip")
		z, err := gzip.NewReader(res.Body)
		is.NoErr(err)
		is.True(bytes.Equal(read(z), plain))

		is.Equal(len(read(get("HEAD", all.name(name), "").Body)), 0)
		is.Equal(get("GET", name, "").StatusCode, 404) // only by the hashed name
		is.Equal(get("POST", all.name(name), "").StatusCode, 404)
	}
}
