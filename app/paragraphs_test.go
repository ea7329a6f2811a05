package app_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// longBody is how many lines a body may have without a blank line in it.
const longBody = 20

func TestALongFunctionIsSetInParagraphs(t *testing.T) {
	looked := 0
	for _, s := range sources(t) {
		lines := sourceLines(t, s)
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}

			first, last := s.line(fn.Body.Lbrace), s.line(fn.Body.Rbrace)
			if last-first <= longBody || isTable(s, fn.Body) {
				continue
			}
			looked++
			if !hasBlank(lines[first : last-1]) {
				t.Errorf("%s:%d: %s has %d lines and no paragraph", s.path, first, fn.Name.Name, last-first)
			}
		}
	}
	if looked < 300 {
		t.Errorf("only %d long functions were found", looked)
	}
}

// isTable reports whether a body is, but for a line or two, one switch or one
// literal: a list of rules needs no paragraphs.
func isTable(s source, body *ast.BlockStmt) bool {
	for _, stmt := range body.List {
		within := s.line(stmt.End()) - s.line(stmt.Pos()) + 1
		if 4*within < 3*(s.line(body.Rbrace)-s.line(body.Lbrace)-1) {
			continue
		}

		switch stmt.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.ReturnStmt, *ast.AssignStmt:
			return true
		}
	}
	return false
}

func hasBlank(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			return true
		}
	}
	return false
}

func TestNoLineIsTooLong(t *testing.T) {
	const most = 140
	for _, s := range sources(t) {
		for i, line := range sourceLines(t, s) {
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > most {
				t.Errorf("%s:%d has %d characters", s.path, i+1, n)
			}
		}
	}
}

func sourceLines(t *testing.T, s source) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", s.path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

func (s source) line(at token.Pos) int { return s.set.Position(at).Line }
