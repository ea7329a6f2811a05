package reference

import (
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// indentJSON writes a node as indented JSON, with the keys in their original order.
func indentJSON(n *node) string {
	var out strings.Builder
	writeJSON(&out, n, "\n", func(_, text string) string { return text })
	return out.String()
}

// highlightJSON is like indentJSON, with elements that the style sheet colours.
func highlightJSON(n *node) template.HTML {
	var out strings.Builder
	writeJSON(&out, n, "\n", func(kind, text string) string {
		return `<span class="` + kind + `">` + html.EscapeString(text) + `</span>`
	})
	return template.HTML(out.String())
}

// writeJSON writes a node; mark changes the text of each key and value, by its kind.
func writeJSON(out *strings.Builder, n *node, newline string, mark func(kind, text string) string) {
	deeper := newline + "  "

	switch {
	case n.fields != nil:
		out.WriteByte('{')
		for i, key := range n.keys {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(deeper + mark("key", quoteJSON(key)) + ": ")
			writeJSON(out, n.fields[key], deeper, mark)
		}
		if len(n.keys) > 0 {
			out.WriteString(newline)
		}
		out.WriteByte('}')
	case n.items != nil:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(deeper)
			writeJSON(out, item, deeper, mark)
		}
		if len(n.items) > 0 {
			out.WriteString(newline)
		}
		out.WriteByte(']')
	default:
		out.WriteString(mark(literal(n.value)))
	}
}

func literal(v any) (kind, text string) {
	switch v := v.(type) {
	case string:
		return "string", quoteJSON(v)
	case json.Number:
		return "number", v.String()
	case bool:
		return "word", strconv.FormatBool(v)
	}
	return "word", "null"
}

// quoteJSON returns a JSON string, without the escapes that only matter within HTML.
func quoteJSON(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// curlCommand returns a request as a command line. url has its parameters filled in.
func curlCommand(method, url string, public bool, headers []string, contentType, body string) string {
	parts := []string{"curl " + quoteShell(url)}
	if method != "GET" && (method != "POST" || body == "") {
		parts[0] = "curl -X " + method + " " + quoteShell(url)
	}

	if !public {
		parts = append(parts, `-H "Authorization: Bearer $CONFAB_API_KEY"`)
	}
	for _, h := range headers {
		parts = append(parts, "-H "+quoteShell(h))
	}

	switch {
	case body == "":
	case contentType == formType:
		parts = append(parts, "-F "+body)
	default:
		parts = append(parts, "-d "+quoteShell(body))
	}

	return strings.Join(parts, " \\\n  ")
}

const formType = "multipart/form-data"

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@+,%-]+$`)

// quoteShell quotes a word for the shell, if it needs that.
func quoteShell(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
