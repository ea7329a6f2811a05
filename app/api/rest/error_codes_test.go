package rest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestEveryCodeIsDeclaredWithItsStatusAndType walks the source: every code comes from
// newCode, under a name of its own, and nothing else makes one.
func TestEveryCodeIsDeclaredWithItsStatusAndType(t *testing.T) {
	is := is.New(t)
	entries, err := os.ReadDir(".")
	is.NoErr(err)

	declared, literals := 0, 0
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "newCode" {
				declared++
			}
		case *ast.CompositeLit:
			if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "Code" && len(n.Elts) > 0 {
				literals++
			}
		}
		return true
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			is.NoErr(err)
			ast.Inspect(file, visit)
		}
	}

	is.Equal(declared, len(Codes)) // each under a name of its own
	is.Equal(literals, 1)          // the one in newCode

	for name, code := range Codes {
		is.Equal(code.String(), name)
		is.True(code.Status >= 400 && code.Status <= 599)
		is.True(code.ErrorType != "")
	}
}
