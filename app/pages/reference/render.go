// Package reference makes an HTML page of an OpenAPI description. The page loads nothing
// from other servers, works without scripts, and can be printed and read in dark mode.
//
// The description is parsed into a tree of nodes that keeps the order of keys (node.go).
// The builder makes a page of it (build.go, operation.go, schema.go, example.go,
// text.go), and a template makes HTML of the page (assets/page.html).
package reference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"

	"confab/app/pages/guides"
	"confab/app/theme"
)

//go:embed assets/page.html
var pageText string

//go:embed assets/page.css
var ownStyle []byte

// Style is the page's style sheet, after the design tokens that it uses.
func Style() []byte { return theme.WithTokens(ownStyle) }

// Script adds comfort: a filter, copy buttons, and a mark at the current section. The
// page works without it.
//
//go:embed assets/page.js
var Script []byte

// Path is that of the page. Its style and script are below it, and the guides.
const Path = "/docs"

// Render makes the page of a description, whose examples call the API at baseURL.
func Render(description []byte, baseURL string) ([]byte, error) {
	root, err := parse(description)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}

	b := &builder{root: root, base: baseURL}
	p := b.buildPage()
	if b.err != nil {
		return nil, fmt.Errorf("describe the API: %w", b.err)
	}

	p.Style, p.Script = Path+"/page.css?"+Version(Style()), Path+"/page.js?"+Version(Script)
	p.Theme, p.Guides = Path+"/theme.js?"+Version(theme.Script), guides.All()
	t, err := template.New("page").Funcs(template.FuncMap{"lower": strings.ToLower, "object": splitName}).Parse(pageText)
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Version returns a short hash of a content, which changes when the content does.
func Version(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
