package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/matryer/is"

	"confab/app/theme"
)

func TestModulesNameEachOtherAsTheyAreServed(t *testing.T) {
	is := is.New(t)
	all := newAssets(fstest.MapFS{
		"app.js":       {Data: []byte("/**\n * Words.\n * @type {import(\"./none.js\").T}\n */\nimport { a } from \"./parts/a.js\";\nimport {\n  b,\n} from \"./b.js\";\nconst later = (/** @type {any} */ x) => import(\"./later.js\"); // kept\n")},
		"b.js":         {Data: []byte(`export const b = new URL("./icons.svg", import.meta.url);`)},
		"later.js":     {Data: []byte(`import "./b.js";`)},
		"parts/a.js":   {Data: []byte("import { b } from \"../b.js\";\n  // a comment\nexport const a = b;")},
		"parts/x.css":  {Data: []byte("/* one */\na { b: c } /* end */\n/* two\n lines */\n")},
		"icons.svg":    {Data: []byte("<svg/>")},
		"unrelated.js": {Data: []byte("let a = \"./no file\", b = \"image/*\"; /* c */")},
	})

	app := string(all.byName["app.js"].content)
	is.Equal(app, "\n\n\n\nimport { a } from \"./"+all.name("parts/a.js")+"\";\nimport {\nb,\n} from \"./"+all.name("b.js")+"\";\nconst later = (x) => import(\"./"+all.name("later.js")+"\"); // kept\n")
	is.True(strings.HasPrefix(string(all.byName["parts/a.js"].content), `import { b } from "../`+all.name("b.js")+"\";\n\n"))
	is.Equal(string(all.byName["parts/x.css"].content), "\na { b: c } \n\n\n")
	is.True(strings.Contains(string(all.byName["b.js"].content), `"./`+all.name("icons.svg")+`"`))
	is.Equal(string(all.byName["unrelated.js"].content), "let a = \"./no file\", b = \"image/*\"; ")
	is.Equal(all.name("none.js"), "")
}

func TestAChangeReachesTheNamesOfAllThatUseIt(t *testing.T) {
	is := is.New(t)
	names := func(b string) [3]string {
		all := newAssets(fstest.MapFS{
			"a.js": {Data: []byte(`import "./b.js";`)}, "b.js": {Data: []byte(b)}, "c.js": {Data: []byte("1")},
		})
		return [3]string{all.name("a.js"), all.name("b.js"), all.name("c.js")}
	}
	before, after := names("1"), names("2")
	is.True(before[0] != after[0])
	is.True(before[1] != after[1])
	is.Equal(before[2], after[2])
}

func TestModulesThatCannotBeBuiltAreABug(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"a circle":       {"a.js": {Data: []byte(`import "./b.js";`)}, "b.js": {Data: []byte(`import "./a.js";`)}},
		"a missing file": {"a.js": {Data: []byte(`import "./b.js";`)}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("nobody complained")
				}
			}()
			newAssets(files)
		})
	}
}

// multilineText finds a text over several lines, whose lines could be taken for comments.
var multilineText = regexp.MustCompile("(?m)^[^`\n]*`[^`\n]*(?:`[^`\n]*`[^`\n]*)*$")

func TestFilesAreOursAndPlain(t *testing.T) {
	all := newAssets(theme.Files, os.DirFS("assets"))
	defined := make(map[string]bool)
	for _, a := range all.byName {
		for _, found := range regexp.MustCompile(`(--[a-z0-9-]+):`).FindAllSubmatch(a.content, -1) {
			defined[string(found[1])] = true
		}
	}

	for name, a := range all.byName {
		text := string(a.content)
		if path.Ext(name) == ".js" && multilineText.MatchString(text) {
			t.Errorf("%s: a text goes over several lines", name)
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "//#", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), word) {
				t.Errorf("%s: %s", name, word)
			}
		}
		for _, found := range regexp.MustCompile(`var\((--[a-z0-9-]+)\)`).FindAllStringSubmatch(text, -1) {
			if !defined[found[1]] {
				t.Errorf("%s: %s is not defined", name, found[1])
			}
		}
		if lines := strings.Count(text, "\n"); lines > 400 {
			t.Errorf("%s has %d lines", name, lines)
		}
		for i, line := range strings.Split(text, "\n") {
			if path.Ext(name) == ".js" && utf8.RuneCountInString(line) > 140 {
				t.Errorf("%s:%d has %d characters", name, i+1, utf8.RuneCountInString(line))
			}
		}
		if path.Ext(name) == ".css" && name != "tokens.css" && regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb\(`).MatchString(text) {
			t.Errorf("%s: a raw colour; the tokens have them all", name)
		}
	}
}

func TestEveryIconThatIsNamedIsDrawn(t *testing.T) {
	all := readAssets()
	drawn := make(map[string]bool)
	for _, found := range regexp.MustCompile(`symbol id="([a-z]+)"`).FindAllSubmatch(all.byName["icons.svg"].content, -1) {
		drawn[string(found[1])] = true
	}
	named := regexp.MustCompile(`icon\("([a-z]+)"\)|icon: "([a-z]+)"`)
	for name, a := range all.byName {
		for _, found := range named.FindAllStringSubmatch(string(a.content), -1) {
			if icon := found[1] + found[2]; !drawn[icon] {
				t.Errorf("%s: there is no icon %q", name, icon)
			}
		}
	}
	for _, s := range screens {
		if !drawn[s.Path] {
			t.Errorf("there is no icon %q", s.Path)
		}
	}
}

// Bars of the wire, in bytes of gzip.
const (
	mostScripts = 60 << 10 // of all screens
	mostTexts   = 17 << 10
	mostFirst   = 35 << 10 // scripts and texts before the inbox works
	mostStyles  = 15 << 10
)

func TestWhatIsSentIsSmall(t *testing.T) {
	all := readAssets()
	size := func(name string) int {
		n := len(all.byName[name].gzipped())
		t.Logf("%6d %s", n, name)
		return n
	}
	first := size(firstBundle) + size("theme.js")
	scripts := first + size(laterBundle)
	first += size(firstTexts)
	texts := size(firstTexts) + size(laterTexts)
	styles := size("tokens.css") + size("base.css") + size(styleBundle) + size("page.css")

	t.Logf("scripts %d of %d, texts %d of %d, before the inbox works %d of %d, styles %d of %d",
		scripts, mostScripts, texts, mostTexts, first, mostFirst, styles, mostStyles)
	if scripts > mostScripts || texts > mostTexts || first > mostFirst || styles > mostStyles {
		t.Error("that is too much")
	}
}

func TestAssetsAreKeptForEverAndCompressed(t *testing.T) {
	is := is.New(t)
	all := readAssets()
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

	for name, kind := range map[string]string{"app.js": "text/javascript; charset=utf-8", "parts.css": "text/css; charset=utf-8", "icons.svg": "image/svg+xml"} {
		res := get("GET", all.name(name), "")
		plain := read(res.Body)
		is.Equal(res.StatusCode, 200)
		is.Equal(res.Header.Get("Content-Type"), kind)
		is.Equal(res.Header.Get("Cache-Control"), "public, max-age=31536000, immutable")
		is.Equal(res.Header.Get("Content-Encoding"), "")

		res = get("GET", all.name(name), "br, gzip")
		is.Equal(res.Header.Get("Content-Encoding"), "gzip")
		z, err := gzip.NewReader(res.Body)
		is.NoErr(err)
		is.True(bytes.Equal(read(z), plain))
		is.Equal(len(read(get("HEAD", all.name(name), "").Body)), 0)
		is.Equal(get("GET", name, "").StatusCode, 404) // only by the hashed name
		is.Equal(get("POST", all.name(name), "").StatusCode, 404)
	}
}
