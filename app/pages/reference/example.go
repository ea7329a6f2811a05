package reference

import (
	"encoding/json"
	"html"
	"html/template"
	"strings"
)

// indented writes a node as JSON for people, in the order in which it was written.
func indented(n *node) string {
	var out strings.Builder
	writeJSON(&out, n, "\n", func(_, text string) string { return text })
	return out.String()
}

// colored is indented, with marks for a style sheet.
func colored(n *node) template.HTML {
	var out strings.Builder
	writeJSON(&out, n, "\n", func(kind, text string) string {
		return `<span class="` + kind + `">` + html.EscapeString(text) + `</span>`
	})
	return template.HTML(out.String())
}

// writeJSON writes a node; mark dresses each key and value by its kind.
func writeJSON(out *strings.Builder, n *node, newline string, mark func(kind, text string) string) {
	deeper := newline + "  "
	switch {
	case n.fields != nil:
		out.WriteByte('{')
		for i, key := range n.keys {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(deeper + mark("key", quoted(key)) + ": ")
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
		return "string", quoted(v)
	case json.Number:
		return "number", v.String()
	case bool:
		if v {
			return "word", "true"
		}
		return "word", "false"
	}
	return "word", "null"
}

// quoted is a JSON string without the escapes that only matter within HTML.
func quoted(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// curl is a request for the command line. url has its parameters filled in.
func curl(method, url string, public bool, headers []string, contentType, body string) string {
	parts := []string{"curl " + shell(url)}
	if method != "GET" && (method != "POST" || body == "") {
		parts[0] = "curl -X " + method + " " + shell(url)
	}
	if !public {
		parts = append(parts, `-H "Authorization: Bearer $CONFAB_API_KEY"`)
	}
	for _, h := range headers {
		parts = append(parts, "-H "+shell(h))
	}
	switch {
	case body == "":
	case contentType == formType:
		parts = append(parts, "-F "+body)
	default:
		parts = append(parts, "-d "+shell(body))
	}
	return strings.Join(parts, " \\\n  ")
}

const formType = "multipart/form-data"

// shell quotes a word, if it needs that.
func shell(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@+,%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
