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

// Options are the URLs that the page contains.
type Options struct {
	BaseURL string // of the API, as examples call it
	Path    string // of the page; its style and script are below it

	GuidesPath string // the index of the guides; each is below it
	Guides     []guides.Guide
}

// Render makes the page of a description.
func Render(description []byte, o Options) ([]byte, error) {
	root, err := parse(description)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}

	b := &builder{document: document{root: root}, base: o.BaseURL}
	p := b.buildPage()
	if b.err != nil {
		return nil, fmt.Errorf("describe the API: %w", b.err)
	}

	p.Style, p.Script = o.Path+"/page.css?"+Version(Style()), o.Path+"/page.js?"+Version(Script)
	p.GuidesPath, p.Guides = o.GuidesPath, o.Guides
	p.Theme = o.Path + "/theme.js?" + Version(theme.Script)
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
