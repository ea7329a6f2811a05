package app_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// homes are rules that several packages need, with the one file that may hold
// them. A second copy would soon differ from the first. The simulator shares no
// rule with us on purpose.
var homes = []struct {
	what    string
	literal *regexp.Regexp // of a string in the source
	file    string
}{
	{"a phone number in E.164", regexp.MustCompile(`\[1-9\]\[0-9\]\{6,14\}`), "jobs/provider/identifiers.go"},
	{"an id of the provider", regexp.MustCompile(`^\^\[0-9\]\{\d+,\d+\}\$$`), "jobs/provider/identifiers.go"},
	{"a business-scoped user id", regexp.MustCompile(`\[A-Z\]\{2\}\[\.\]`), "jobs/provider/identifiers.go"},
}

func TestARuleHasOneHome(t *testing.T) {
	found := make(map[string]bool)
	for _, s := range sources(t) {
		if s.pkg == "app/simulator" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}

			for _, h := range homes {
				if !h.literal.MatchString(strings.Trim(lit.Value, "`\"")) {
					continue
				}
				found[h.what] = true
				if s.path != h.file {
					t.Errorf("%s: %s stands again; %s has it", s.path, h.what, h.file)
				}
			}
			return true
		})
	}

	for _, h := range homes {
		if !found[h.what] {
			t.Errorf("%s: no longer in %s", h.what, h.file)
		}
	}
}

func TestWhatCountsAsAnEmailAddressIsDecidedOnce(t *testing.T) {
	const home = "storage/email.go"
	var callers []string
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "ParseAddress" {
				callers = append(callers, s.path)
			}
			return true
		})
	}
	if len(callers) != 1 || callers[0] != home {
		t.Errorf("addresses are read in %v; only %s should", callers, home)
	}
}
