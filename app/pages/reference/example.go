package reference

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"
)

// indentJSON writes a node as indented JSON, with the keys in their original order.
func indentJSON(n *node) string {
	var out bytes.Buffer
	if err := json.Indent(&out, n.json, "", "  "); err != nil {
		panic(err) // it was parsed
	}
	return out.String()
}

// jsonWord matches a key with its colon, a string, a number, or another word.
var jsonWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*":?|[\w.+-]+`)

// highlightJSON is like indentJSON, with elements that the style sheet colours.
func highlightJSON(n *node) template.HTML {
	return template.HTML(jsonWord.ReplaceAllStringFunc(indentJSON(n), func(word string) string {
		word, isKey := strings.CutSuffix(word, ":")
		kind, colon := "number", ""
		switch {
		case isKey:
			kind, colon = "key", ":"
		case word[0] == '"':
			kind = "string"
		case word[0] >= 'a':
			kind = "word"
		}
		return `<span class="` + kind + `">` + html.EscapeString(word) + `</span>` + colon
	}))
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

func quoteShell(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
