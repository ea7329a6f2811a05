package reference

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

var (
	code = regexp.MustCompile("`([^`]+)`")
	bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// renderMarkdown renders the part of Markdown that descriptions use: paragraphs, code and bold.
func renderMarkdown(text string) template.HTML {
	var out strings.Builder

	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if block != "" {
			out.WriteString("<p>" + renderSpans(strings.ReplaceAll(strings.TrimSpace(block), "\n", " ")) + "</p>")
		}
	}

	return template.HTML(out.String())
}

// renderLine renders Markdown as one line, without a paragraph around it.
func renderLine(text string) template.HTML {
	return template.HTML(renderSpans(strings.Join(strings.Fields(text), " ")))
}

// renderSpans renders the Markdown within a line that descriptions use.
func renderSpans(text string) string {
	text = code.ReplaceAllString(html.EscapeString(text), "<code>$1</code>")
	return bold.ReplaceAllString(text, "<strong>$1</strong>")
}
