package app_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"confab/jobs/provider"
)

// signupSubcodes are the codes of five digits or more that are not in the
// provider's table, because they explain a code and never come alone.
var signupSubcodes = []int{provider.SubcodeCodeExpired, provider.SubcodeCodeUsed}

// isProviderCode reports whether a number can only be meant as a code of the
// provider. Shorter codes look like any other number.
func isProviderCode(n int) bool {
	if n < 10_000 || n > 9_999_999 {
		return false
	}
	_, known := provider.Lookup(n, 0)
	return known || slices.Contains(signupSubcodes, n)
}

// TestProviderCodesHaveNames keeps the numbers of the provider's dialect in the
// package that knows it, and in the simulator, which plays the provider and may
// not borrow from its client. Everybody else calls them by name.
func TestProviderCodesHaveNames(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "jobs/provider" || s.pkg == "app/simulator" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.INT {
				return true
			}
			if value, err := strconv.ParseInt(lit.Value, 0, 32); err == nil && isProviderCode(int(value)) {
				t.Errorf("%s writes the provider's code %s as a number: name it in jobs/provider", s.path, lit.Value)
			}
			return true
		})
	}
}
