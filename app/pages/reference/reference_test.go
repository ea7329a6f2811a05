package reference

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"One.\n\nTwo\nlines.":               "<p>One.</p><p>Two lines.</p>",
		"Say `a < b` **now**.":              "<p>Say <code>a &lt; b</code> <strong>now</strong>.</p>",
		"<script>alert(1)</script> & `<b>`": "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code></p>",
		"No [link](javascript:alert(1)).":   "<p>No [link](javascript:alert(1)).</p>",
		"An open ` or **":                   "<p>An open ` or **</p>",
	} {
		if got := string(renderMarkdown(text)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	is.New(t).Equal(renderLine("two\nlines"), template.HTML("two lines"))
}

func TestJSONKeepsItsOrder(t *testing.T) {
	is := is.New(t)
	const text = `{"z":1.50,"a":[true,null,{"<b>":"\"x\" & y"},[],{}],"m":"ü"}`
	n, err := parse([]byte(text))
	is.NoErr(err)
	is.Equal(n.keys, []string{"z", "a", "m"})
	is.Equal(strings.Join(strings.Fields(indentJSON(n)), ""), strings.ReplaceAll(text, " ", "")) // nothing but the spaces changed
	html := string(highlightJSON(n))
	is.True(strings.Contains(html, `<span class="key">&#34;&lt;b&gt;&#34;</span>: <span class="string">&#34;\&#34;x\&#34; &amp; y&#34;</span>`))
	is.True(strings.Contains(html, `<span class="number">1.50</span>`))
	for _, bad := range []string{"", "{", `{"a"`, `[1,`, "nope"} {
		_, err := parse([]byte(bad))
		is.True(err != nil)
	}
	var none *node
	is.Equal(none.get("a", "b").text("c"), "")
	is.Equal(len(none.list("x")), 0)
	for range none.each() {
		t.Error("there is nothing to visit")
	}
}

func TestCurlCanBePastedIntoAShell(t *testing.T) {
	is := is.New(t)
	is.Equal(curlCommand("GET", "http://x/v1/me", false, nil, "", ""), "curl http://x/v1/me \\\n  -H \"Authorization: Bearer $CONFAB_API_KEY\"")
	is.Equal(curlCommand("GET", "http://x/v1/health", true, nil, "", ""), "curl http://x/v1/health")
	is.Equal(curlCommand("DELETE", "http://x/v1/labels/lbl_1?a=b&c", true, nil, "", ""), "curl -X DELETE 'http://x/v1/labels/lbl_1?a=b&c'")
	is.Equal(curlCommand("POST", "http://x/r", true, nil, "", ""), "curl -X POST http://x/r")
	is.Equal(curlCommand("POST", "http://x/r", true, []string{"Idempotency-Key: k 1"}, "application/json", `{"a":"it's"}`),
		"curl http://x/r \\\n  -H 'Idempotency-Key: k 1' \\\n  -d '{\"a\":\"it'\\''s\"}'")
	is.Equal(curlCommand("PATCH", "http://x/r", true, nil, "application/json", "{}"), "curl -X PATCH http://x/r \\\n  -d '{}'")
	is.Equal(curlCommand("POST", "http://x/r", true, nil, formType, "file=@photo.jpg"), "curl http://x/r \\\n  -F file=@photo.jpg")
}

func TestNamesInWords(t *testing.T) {
	for name, want := range map[string]string{
		"NewTextMessage": "New text message", "SetupLinkWithURL": "Setup link with URL", "APIKey": "API key", "URLOfMCPServer": "URL of MCP server", "": "",
	} {
		if got := splitName(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestSchemasInWords(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string"}`: "string",
		`{"type":["string","null"],"format":"date-time"}`:                        "date-time or null",
		`{"type":"string","format":"uri"}`:                                       "URL",
		`{}`:                                                                     "anything",
		`{"anyOf":[{"type":"object"}]}`:                                          "object",
		`{"type":"string","minLength":1,"maxLength":50}`:                         "string | 1 to 50 characters",
		`{"type":"string","minLength":1}`:                                        "string | not empty",
		`{"type":"integer","minimum":1,"maximum":100,"default":25}`:              "integer | 1 to 100 | default <code>25</code>",
		`{"type":"integer","exclusiveMinimum":0}`:                                "integer | more than 0",
		`{"type":"string","pattern":"^[<a]+$"}`:                                  "string | matches <code>^[&lt;a]+$</code>",
		`{"type":"string","enum":["a","b",null]}`:                                "string = a,b",
		`{"const":"label"}`:                                                      "anything = label",
		`{"type":"array","items":{"type":"string","maxLength":9},"maxItems":10}`: "array of strings | at most 10 items | at most 9 characters",
		`{"type":"array","minItems":2,"maxItems":2,"items":{"$ref":"#/components/schemas/Thing"}}`: "array of objects | exactly 2 items",
		`{"type":"object","maxProperties":64}`:                                                     "object | at most 64 keys",
	} {
		is := is.New(t)
		root, err := parse([]byte(`{"components":{"schemas":{"Thing":{"type":"object"}}}}`))
		is.NoErr(err)
		n, err := parse([]byte(schema))
		is.NoErr(err)
		b := &builder{root: root}
		f := b.describe("x", n, false, 0)
		got := f.Type
		if len(f.Values) > 0 {
			got += " = " + strings.Join(f.Values, ",")
		}
		for _, r := range f.Rules {
			got += " | " + string(r)
		}
		if got != want {
			t.Errorf("%s: %s", schema, got)
		}
	}
}

// small is a description with one of everything that is hard.
const small = `{
  "info": {"title": "small", "version": "2.0", "description": "Hello."},
  "tags": [{"name": "Things"}, {"name": "Events"}],
  "paths": {"/things/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Id"}}],
    "patch": {"operationId": "changeThing", "tags": ["Things"], "summary": "Change <it>", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}, "examples": {"one": {"summary": "A name", "value": {"name": "x"}}}}}},
      "responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}, "examples": {"one": {"summary": "A thing", "value": {"data": {"object": "thing", "name": "x"}}}}}}},
        "404": {"description": "None.", "content": {"application/json": {"examples": {"resource_not_found": {"value": {}}}}}}}},
    "get": {"operationId": "getThing", "tags": ["Things"], "summary": "Get it", "security": [], "responses": {}}}},
  "webhooks": {"thing.made": {"post": {"operationId": "onThing", "tags": ["Events"], "summary": "thing.made", "requestBody": {"content": {"application/json": {"schema": {}, "examples": {"one": {"summary": "One", "value": {"a": 1}}}}}}, "responses": {}}}},
  "components": {"schemas": {
    "Id": {"type": "string", "examples": ["thg_1"]},
    "Envelope": {"properties": {"data": {"$ref": "#/components/schemas/Thing"}}},
    "Thing": {"type": "object", "allOf": [{"$ref": "#/components/schemas/Base"}], "required": ["name"], "properties": {"name": {"type": "string"}, "child": {"$ref": "#/components/schemas/Thing"},
      "loop": {"type": "object", "properties": {"again": {"$ref": "#/components/schemas/Loop"}}}}},
    "Loop": {"type": "object", "properties": {"again": {"$ref": "#/components/schemas/Loop"}}},
    "Base": {"properties": {"object": {"const": "thing"}, "name": {"type": "integer"}}, "anyOf": [{"$ref": "#/components/schemas/Id"}, {"$ref": "#/components/schemas/Big"}]},
    "Big": {"properties": {"size": {"type": "integer"}}}
  }}}`

func TestRender(t *testing.T) {
	is := is.New(t)
	page := string(Render([]byte(small), "https://chat.example.com/v1"))
	for _, part := range []string{
		`<article id="changeThing">`, `Change &lt;it&gt;`, `curl -X PATCH https://chat.example.com/v1/things/thg_1`,
		`<article id="getThing">`, `no key needed`, `<section class="group" id="tag-events">`,
		`<article id="onThing">`, `to your endpoint`,
		`<article id="object-Thing">`, `See <a href="#object-Thing">Thing</a>`,
		`<summary>Big</summary>`, `<code>resource_not_found</code>`, `small <span>API 2.0</span>`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("there is no %s", part)
		}
	}
	is.Equal(strings.Count(page, `<code>again</code> <span`) <= 2*maxDepth, true) // it ends
}

// links finds where a page leads and what it loads.
var (
	ids   = regexp.MustCompile(` id="([^"]+)"`)
	hrefs = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
)

// checkLinks wants every link to lead somewhere in the page, and nothing else to
// be loaded than its own style and script.
func checkLinks(t *testing.T, page string) {
	t.Helper()
	var targets []string
	for _, m := range ids.FindAllStringSubmatch(page, -1) {
		if slices.Contains(targets, m[1]) {
			t.Errorf("there are two %s", m[1])
		}
		targets = append(targets, m[1])
	}
	for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
		if anchor, ok := strings.CutPrefix(m[1], "#"); ok && !slices.Contains(targets, anchor) {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	checkLinks(t, string(Render([]byte(small), "")))
}
