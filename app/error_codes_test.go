package app_test

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api"
	"confab/jobs/provider"
)

// errorCodes are the values of error.code that a message can end with: all constants of
// package errorcode.
func errorCodes(t *testing.T) (all []string) {
	t.Helper()
	for _, s := range sources(t) {
		if s.pkg == "jobs/errorcode" {
			all = append(all, stringLiterals(s.file)...)
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d codes were found", len(all))
	}
	return all
}

func stringLiterals(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if _, isImport := n.(*ast.ImportSpec); isImport {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// describedCodes are the codes that the API's description names for a failed message.
func describedCodes(t *testing.T) []string {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas struct {
				MessageError struct {
					Properties struct {
						Code struct{ Description string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(api.OpenAPIDocument(), &doc); err != nil {
		t.Fatal(err)
	}
	text := doc.Components.Schemas.MessageError.Properties.Code.Description
	return regexp.MustCompile(`[a-z0-9]+(_[a-z0-9]+)+|undeliverable`).FindAllString(text, -1)
}

func TestEveryErrorCodeOfAMessageIsDescribed(t *testing.T) {
	is := is.New(t)
	described, all := describedCodes(t), errorCodes(t)
	for _, code := range all {
		if !slices.Contains(described, code) {
			t.Errorf("openapi.json: MessageError does not name %s", code)
		}
	}
	for _, row := range provider.Codes() {
		is.True(slices.Contains(all, string(row.Code))) // the provider's table uses no other
	}
}

// TestErrorCodesAreWrittenOnce lets package errorcode alone spell the codes. The
// simulator plays the provider and has no part in them, and a column of contactsheet is
// called like one.
func TestErrorCodesAreWrittenOnce(t *testing.T) {
	codes := errorCodes(t)
	for i, code := range codes {
		if slices.Contains(codes[:i], code) {
			t.Errorf("package errorcode has %s twice", code)
		}
	}
	for _, s := range sources(t) {
		if s.pkg == "jobs/errorcode" || s.pkg == "app/simulator" || s.pkg == "jobs/contactsheet" || strings.HasPrefix(s.pkg, "storage") {
			continue
		}
		for _, text := range stringLiterals(s.file) {
			if slices.Contains(codes, text) {
				t.Errorf("%s spells %q: package errorcode has a name for it", s.path, text)
			}
		}
	}
}
