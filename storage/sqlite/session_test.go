package sqlite_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A session can only know whether a transaction has changed something because
// all statements go through its own methods.
func TestOnlyASessionUsesItsConnection(t *testing.T) {
	is := is.New(t)
	entries, err := os.ReadDir(".")
	is.NoErr(err)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "session.go" {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, 0)
		is.NoErr(err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "conn" {
				t.Errorf("%s: statements of a transaction go through a method of session", files.Position(s.Pos()))
			}
			return true
		})
	}
}
