// Package theme holds what every page looks like: the design tokens (colours, spaces and
// type, for light and dark), the icon, and the script that applies a chosen theme.
package theme

import "embed"

// Files are tokens.css, theme.js, icon.svg, and the icon as the systems of phones take it.
//
//go:embed tokens.css theme.js icon.svg icon-192.png icon-512.png
var Files embed.FS

// Tokens is the style sheet of the tokens.
//
//go:embed tokens.css
var Tokens []byte

// Script applies the theme that was chosen in the browser. It must run before anything
// is painted.
//
//go:embed theme.js
var Script []byte

// Icon is the icon of every page, as SVG.
//
//go:embed icon.svg
var Icon []byte

// WithTokens puts the tokens before a style sheet that uses them.
func WithTokens(sheet []byte) []byte { return append(append([]byte(nil), Tokens...), sheet...) }
