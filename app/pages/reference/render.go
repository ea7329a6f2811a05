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

// Render makes the page of a description, whose examples call the API at baseURL. The description
// is embedded, like the template, and its tests leave nothing that could fail here: every
// reference leads somewhere, and every operation has a tag that is described.
func Render(description []byte, baseURL string) []byte {
	root, err := parse(description)
	if err != nil {
		panic(err)
	}

	p := (&builder{root: root, base: baseURL}).buildPage()
	p.Style, p.Script = Path+"/page.css?"+Version(Style()), Path+"/page.js?"+Version(Script)
	p.Theme, p.Guides = Path+"/theme.js?"+Version(theme.Script), guides.All()

	functions := template.FuncMap{"lower": strings.ToLower, "object": splitName}
	var out bytes.Buffer
	if err := template.Must(template.New("page").Funcs(functions).Parse(pageText)).Execute(&out, p); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Version returns a short hash of a content, which changes when the content does.
func Version(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
