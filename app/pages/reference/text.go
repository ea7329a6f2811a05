package reference

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// inline matches the Markdown within a line that descriptions use: code, bold, links.
var inline = regexp.MustCompile("`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\[([^\\]]+)\\]\\((https?://[^)\\s]+|#[^)\\s]+)\\)")

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

func renderSpans(text string) string {
	var out strings.Builder
	for text != "" {
		at := inline.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}

		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return html.EscapeString(text[at[2*i]:at[2*i+1]])
		}

		out.WriteString(html.EscapeString(text[:at[0]]))
		switch {
		case part(1) != "":
			out.WriteString("<code>" + part(1) + "</code>")
		case part(2) != "":
			out.WriteString("<strong>" + part(2) + "</strong>")
		default:
			out.WriteString(`<a href="` + part(4) + `">` + part(3) + "</a>")
		}

		text = text[at[1]:]
	}
	return out.String() + html.EscapeString(text)
}
