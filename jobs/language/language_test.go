package language

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/matryer/is"
)

func TestTheBrowsersLanguageIsFound(t *testing.T) {
	for header, want := range map[string]string{
		"": "en", "en-GB,en;q=0.9": "en", "de-DE,de;q=0.9": "en", "*": "en", "\xff;;;q=": "en",
		"es-MX,es;q=0.9,en;q=0.8": "es", "pt-BR,pt;q=0.9": "pt-BR", "pt-PT": "pt-BR", "pt": "pt-BR",
		"id-ID,id;q=0.9,en;q=0.8": "id", "in": "id", "ar-EG,ar;q=0.9": "ar", "ar": "ar",
		"de-DE,de;q=0.9,ar;q=0.8,en;q=0.7": "ar", "en;q=0.3,es": "es",
	} {
		if got := Accepted(header); got != want {
			t.Errorf("Accept-Language %q: got %s, want %s", header, got, want)
		}
	}
}

func TestASentenceIsSaidInALanguage(t *testing.T) {
	is := is.New(t)
	is.Equal(Say("pt-BR", "Welcome to %s", "100%"), "Boas-vindas a 100%")
	is.Equal(Say("en", "Welcome to %s", "Acme"), "Welcome to Acme")
	is.Equal(Say("", "New message"), "New message")
	is.Equal(Say("es", "There is no such sentence: 100%"), "There is no such sentence: 100%")
	is.Equal(Direction("ar")+Direction("id"), "rtlltr")
}

// sayers are the functions that take English sentences, and where in their arguments.
var sayers = map[string][]int{
	"say": {0}, "language.Say": {1}, "showError": {1, 2}, "errorPage": {0, 1}, "calmPage": {0, 1}, "linkPage": {0, 1},
}

var (
	inTemplate = regexp.MustCompile(`\.(?:Say|Rich) ("(?:[^"\\]|\\.)*")`)
	fixed      = regexp.MustCompile(`%(?:\[\d\])?[a-z]|<[^>]+>`) // what a translation must have, too
)

// Nobody finds by hand what a language lacks, or has too much.
func TestEveryLanguageHasEverySentence(t *testing.T) {
	said := make(map[string]bool)
	for _, pattern := range []string{"../push.go", "../../app/console/*.go", "../../app/console/api/failure_meanings.go", "../../app/pages/setup_link*.go"} {
		for _, path := range glob(t, pattern) {
			sentencesIn(t, path, said)
		}
	}
	for _, pattern := range []string{"../../app/console/templates/*.html", "../../app/pages/templates/*.html"} {
		for _, path := range glob(t, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range inTemplate.FindAllSubmatch(text, -1) {
				sentence, err := strconv.Unquote(string(m[1]))
				if err != nil {
					t.Fatal(path, err)
				}
				said[sentence] = true
			}
		}
	}
	if len(said) < 150 {
		t.Fatalf("only %d sentences were found", len(said))
	}

	for name, of := range sentences() {
		for sentence := range said {
			if of[sentence] == "" {
				t.Errorf("%s lacks %q", name, sentence)
			}
		}
		for sentence, translation := range of {
			if !said[sentence] {
				t.Errorf("%s: nobody says %q", name, sentence)
			}
			want, got := fixed.FindAllString(sentence, -1), fixed.FindAllString(translation, -1)
			if !slices.Equal(want, got) {
				t.Errorf("%s: %q has %q instead of %q", name, translation, got, want)
			}
		}
	}
	if names := slices.Sorted(maps.Keys(sentences())); !slices.Equal(names, slices.Sorted(slices.Values(All()[1:]))) {
		t.Errorf("there are %q", names)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal(pattern, err)
	}
	return paths
}

// sentencesIn collects what the sayers in a file are given, the titles of screens, and what codes of errors mean.
func sentencesIn(t *testing.T, path string, said map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, i := range sayers[nameOf(n.Fun)] {
				if text := textOf(n.Args[i]); text != "" {
					said[text] = true
				}
			}
		case *ast.KeyValueExpr:
			code, _ := n.Key.(*ast.SelectorExpr)
			isMeaning := code != nil && nameOf(code.X) == "errorcode"
			if (nameOf(n.Key) == "Title" || isMeaning) && textOf(n.Value) != "" {
				said[textOf(n.Value)] = true
			}
		}
		return true
	})
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if nameOf(e.X) == "language" {
			return "language." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

// textOf is the text of a literal, or of some that are joined; "" for anything else.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	}
	return ""
}
