// Package reference makes a page of an OpenAPI description: one document without
// foreign parts, readable without scripts, on paper and in the dark.
package reference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"
)

//go:embed assets/page.html
var pageText string

// Style is the page's style sheet.
//
//go:embed assets/page.css
var Style []byte

// Script adds what is comfortable: a filter, buttons that copy, and a mark at
// where one is. The page does without.
//
//go:embed assets/page.js
var Script []byte

// Options say where things are.
type Options struct {
	BaseURL string // of the API, as examples call it
	Path    string // of the page, under which its style and script are
}

// Render makes the page of a description.
func Render(description []byte, o Options) ([]byte, error) {
	root, err := parse(description)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	b := &builder{document: document{root}, base: o.BaseURL}
	p, err := b.page()
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	p.Style, p.Script = o.Path+"/page.css?"+Version(Style), o.Path+"/page.js?"+Version(Script)
	t, err := template.New("page").Funcs(template.FuncMap{"lower": strings.ToLower, "object": words}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Version tells one content from another.
func Version(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
