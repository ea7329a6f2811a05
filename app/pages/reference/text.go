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
	link = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^)\s]+|#[^)\s]+)\)`)
)

// renderMarkdown renders the part of Markdown that descriptions use: paragraphs, lists,
// code, bold and links.
func renderMarkdown(text string) template.HTML {
	var out strings.Builder

	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		switch {
		case block == "":
		case strings.HasPrefix(lines[0], "- "):
			out.WriteString("<ul>")
			for _, line := range lines {
				out.WriteString("<li>" + renderSpans(strings.TrimPrefix(line, "- ")) + "</li>")
			}
			out.WriteString("</ul>")
		default:
			out.WriteString("<p>" + renderSpans(strings.Join(lines, " ")) + "</p>")
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
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	return link.ReplaceAllString(text, `<a href="$2">$1</a>`)
}
