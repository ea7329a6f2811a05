package app_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A proof names what holds a rule: a file, and in it
//
//	TestName         a test that compares something
//	TestName/text    the same, and a string of it, such as a case of its table
//	any other text   a line of a script that wants it to be so
//
// A name alone would prove nothing: what it stands for may be empty, skipped, or
// in a comment.

// hollow tells why a proof proves nothing, or "" if it does.
func hollow(proof string) string {
	file, what, _ := strings.Cut(proof, " ")
	path := filepath.FromSlash(file)
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if filepath.Ext(path) == ".txtar" {
		return hollowLine(string(text), what)
	}
	if runs, err := build.Default.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || !runs || !strings.HasSuffix(path, "_test.go") {
		return "no file of tests that are run here"
	}
	return hollowTest(string(text), what)
}

// hollowTest tells why a test of a file proves nothing.
func hollowTest(source, what string) string {
	name, has, wants := strings.Cut(what, "/")
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return err.Error()
	}
	test := testNamed(file, name)
	if test == nil {
		return "there is no such test"
	}

	ast.Inspect(test.Body, func(n ast.Node) bool { prune(n); return true })
	asserts, found := false, false
	ast.Inspect(test.Body, func(n ast.Node) bool {
		asserts = asserts || isAssertion(n, packages(file))
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			found = found || err == nil && text == has
		}
		return true
	})
	switch {
	case !asserts:
		return "it compares nothing"
	case wants && !found:
		return "it has no " + has
	}
	return ""
}

// testNamed finds a test or a fuzz target by its name, if go test would run it.
func testNamed(file *ast.File, name string) *ast.FuncDecl {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != name || len(fn.Type.Params.List) != 1 {
			continue
		}
		pointer, _ := fn.Type.Params.List[0].Type.(*ast.StarExpr)
		if pointer == nil {
			continue
		}
		kind, _ := pointer.X.(*ast.SelectorExpr)
		if kind != nil && (strings.HasPrefix(name, "Test") && kind.Sel.Name == "T" || strings.HasPrefix(name, "Fuzz") && kind.Sel.Name == "F") {
			return fn
		}
	}
	return nil
}

// packages are the names under which a file imports others, but for is, which
// tests give to what they assert with.
func packages(file *ast.File) (names []string) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name != "is" {
			names = append(names, name)
		}
	}
	return names
}

// prune takes away what is never reached.
func prune(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		n.List = reached(n.List)
	case *ast.CaseClause:
		n.Body = reached(n.Body)
	case *ast.CommClause:
		n.Body = reached(n.Body)
	case *ast.IfStmt:
		if isConstant(n.Cond) {
			n.Body.List = nil
		}
	case *ast.RangeStmt:
		if list, ok := n.X.(*ast.CompositeLit); ok && len(list.Elts) == 0 {
			n.Body.List = nil
		}
	}
}

// reached are the statements up to the one after which nothing follows.
func reached(list []ast.Stmt) []ast.Stmt {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			return list[:i+1]
		case *ast.ExprStmt:
			if strings.HasPrefix(called(s.X), "Skip") {
				return list[:i+1]
			}
		}
	}
	return list
}

// isAssertion tells whether a statement can fail a test by what it compares. That
// an error is none is asked on the way to what a test is about.
func isAssertion(n ast.Node, packages []string) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := called(n)
		if x, ok := n.Fun.(*ast.SelectorExpr); ok && (name == "Equal" || name == "True") {
			of, _ := x.X.(*ast.Ident)
			return !slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return name == "True" && isConstant(arg) }) &&
				!(name == "Equal" && len(n.Args) == 2 && isConstant(n.Args[0]) && isConstant(n.Args[1])) &&
				(of == nil || !slices.Contains(packages, of.Name))
		}
	case *ast.IfStmt:
		cond, _ := n.Cond.(*ast.BinaryExpr)
		if cond != nil && cond.Op == token.NEQ && isNamed(cond.X, "err") && isNamed(cond.Y, "nil") {
			return false
		}
		for _, s := range n.Body.List {
			if s, ok := s.(*ast.ExprStmt); ok && slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf"}, called(s.X)) {
				return true
			}
		}
	}
	return false
}

// called is the name of the method that an expression calls.
func called(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if fn, ok := call.Fun.(*ast.SelectorExpr); ok {
			return fn.Sel.Name
		}
	}
	return ""
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// isConstant tells whether an expression is the same in every run.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || e.Name == "nil"
	case *ast.ParenExpr:
		return isConstant(e.X)
	case *ast.UnaryExpr:
		return isConstant(e.X)
	case *ast.BinaryExpr:
		return isConstant(e.X) && isConstant(e.Y)
	}
	return false
}

// fileMark begins a file that a script brings along.
var fileMark = regexp.MustCompile(`^-- .+ --$`)

// hollowLine tells why a line of a script proves nothing.
func hollowLine(script, what string) string {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		verb, _, _ := strings.Cut(line, " ")
		switch {
		case verb == "stop" || verb == "skip" || fileMark.MatchString(line):
			return "nothing up to the end of the script wants it"
		case line == what && (verb == "mode" || verb == "exists"):
			return ""
		case strings.Contains(line, what) && (verb == "grep" || verb == "stdout" || verb == "stderr"):
			return ""
		}
	}
	return "no line of the script wants it"
}

func TestAHollowProofIsNoticed(t *testing.T) {
	for body, want := range map[string]string{
		`is := is.New(t); is.Equal(f(), "a case")`:               "",
		`if f() != "a case" { t.Errorf("no") }`:                  "",
		`t.Run("a case", func(t *testing.T) { s.is.True(f()) })`: "",
		`for range []string{"a case"} { is.True(f()) }`:          "",
		``:                                      "it compares nothing",
		`f("a case")`:                           "it compares nothing",
		`// is.Equal(f(), "a case")`:            "it compares nothing",
		`t.Log("a case")`:                       "it compares nothing",
		`t.Skip("a case"); is.True(f())`:        "it compares nothing",
		`f(); return; is.True(f())`:             "it compares nothing",
		`if false { is.True(f()) }`:             "it compares nothing",
		`for range []string{} { is.True(f()) }`: "it compares nothing",
		`is.True(true); is.Equal(1, 1); is.True("a case" != "")`: "it compares nothing",
		`is.True`:                          "it compares nothing",
		`_ = strings.Equal(f(), "a case")`: "it compares nothing",
		`err := f(); is.NoErr(err); if err != nil { t.Fatal("a case") }`: "it compares nothing",
		`is.True(f())`:                              "it has no a case",
		`is.True(f()); return; g("a case")`:         "it has no a case",
		"is.True(f()) // a case":                    "it has no a case",
		"}; func helper() { is.True(f(\"a case\"))": "it compares nothing",
	} {
		source := "package a\nimport (\"strings\"; \"testing\")\nfunc TestIt(t *testing.T) {\n" + body + "\n}\n"
		if got := hollowTest(source, "TestIt/a case"); got != want {
			t.Errorf("%s: %q, not %q", body, got, want)
		}
	}
	for _, source := range []string{
		"func TestIt() { is.True(f()) }",
		"func (s suite) TestIt(t *testing.T) { is.True(f()) }",
		"func TestIt(b *testing.B) { is.True(f()) }",
		"// func TestIt(t *testing.T) { is.True(f()) }",
		"func TestItToo(t *testing.T) { is.True(f()) }",
		"func TestIt(t *testing.T, n int) { is.True(f()) }",
	} {
		is.New(t).Equal(hollowTest("package a\n"+source, "TestIt"), "there is no such test")
	}

	const script = "# mode 0600 a\nexec mode 0600 b\nmode 0600 c/d\n! exists e\nexec echo warning\nstderr 'a warning: f'\n" +
		"stop\nexists g\n-- h --\nexists i\n"
	for what, proves := range map[string]bool{
		"mode 0600 c/d": true, "warning: f": true,
		"mode 0600 a": false, "mode 0600 b": false, "mode 0600 c": false, "echo warning": false,
		"exists e": false, "exists g": false, "exists i": false,
	} {
		is.New(t).Equal(hollowLine(script, what) == "", proves)
	}
}
