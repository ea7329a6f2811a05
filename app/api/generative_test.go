package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"confab/storage/storagetest"
)

// TestEveryRouteWithstandsWhateverItIsSent makes requests out of the
// description: its examples, each of them with one thing broken, and every
// parameter with values that it should and should not take. The fixture's
// client holds each answer against the description; here, none may be a fault
// of ours.
func TestEveryRouteWithstandsWhateverItIsSent(t *testing.T) {
	f, account := serveLibrary(t, withNames(t)) // none of its names is asked for outside
	contact := f.contact(account, "+15551234567")
	said := f.say(contact, received("wamid.generated"), written("text", "sent"))
	known := map[string]string{
		"phone_number_id": number, "contacts": contact.ID, "messages": said[1].ID, "conversations": said[1].ConversationID,
		"labels": f.call("POST", "/labels", `{"name":"known"}`).text("data.id"),
	}
	known["webhook_subscriptions"] = f.call("POST", hooks, hook).text("data.id")
	known["webhook_deliveries"] = f.call("POST", hooks+"/"+known["webhook_subscriptions"]+"/test", "").text("data.id")
	for name, id := range known {
		if id == "" { // which try would take for a part of every path
			t.Fatalf("there is none of %s", name)
		}
	}
	before := storagetest.Seed(t, f.db, "Bystander")
	for _, path := range slices.Sorted(maps.Keys(described().doc.Paths.Map())) {
		for method, operation := range described().doc.Paths.Find(path).Operations() {
			t.Run(method+" "+path, func(t *testing.T) {
				g := generator{f: f.in(t), method: method, operation: operation, known: known}
				g.paths(path)
				g.queries(g.filled(path, nil))
				g.bodies(g.filled(path, nil))
			})
		}
	}
	if got := f.callAs(before.Secret, "GET", "/me", ""); got.status != 200 {
		t.Errorf("another organization was hurt: %s", got.body)
	}
}

// generator makes the requests of one operation.
type generator struct {
	f         *fixture
	method    string
	operation *openapi3.Operation
	known     map[string]string // ids that exist, by the path segment before them
}

// try makes one request. For any of them a 5xx would be our fault; what needs
// the provider may say that there is none.
func (g *generator) try(path, body string, header ...string) {
	g.f.t.Helper()
	if g.method == "DELETE" && (strings.Contains(path, g.known["contacts"]) || strings.HasSuffix(path, g.known["webhook_subscriptions"])) {
		return // the others still need it
	}
	if rest, ok := strings.CutPrefix(path, "/events/stream"); ok {
		path = "/events/stream?wait=0&" + strings.TrimPrefix(rest, "?") // so that it has an end
	}
	if got := g.f.call(g.method, path, body, header...); got.status >= 500 && got.text("error.code") != "whatsapp_upstream_error" {
		g.f.t.Errorf("%s %s %.200s -> %d %s", g.method, path, body, got.status, got.body)
	}
}

// filled puts ids into a path: known ones, but for those that are given.
func (g *generator) filled(path string, given map[string]string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value := g.known[name]
		if value == "" && i > 0 {
			value = g.known[parts[i-1]]
		}
		if other, ok := given[name]; ok {
			value = other
		}
		if value == "" {
			value = "unknown"
		}
		parts[i] = url.PathEscape(value)
	}
	return strings.Join(parts, "/")
}

// oddities are values that somebody sends some day.
var oddities = []string{
	"", "0", "-1", "null", "true", "[]", "{}", "99999999999999999999", "1e309", "é", "\u0000", "a\r\nb", "%", "' OR 1=1 --", "../../etc/passwd", "<script>",
	"2026-13-45T00:00:00Z", "0000-00-00T00:00:00Z", "+00", "msg_", "lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", strings.Repeat("x", 5000),
}

// paths tries odd ids in every place of the path.
func (g *generator) paths(path string) {
	for _, parameter := range g.operation.Parameters {
		if parameter.Value.In != openapi3.ParameterInPath {
			continue
		}
		for _, odd := range oddities {
			if odd != "" { // another path altogether
				g.try(g.filled(path, map[string]string{parameter.Value.Name: odd}), g.example())
			}
		}
	}
}

// queries tries odd and good values for every parameter of the query.
func (g *generator) queries(path string) {
	for _, parameter := range g.operation.Parameters {
		p := parameter.Value
		if p.In != openapi3.ParameterInQuery {
			continue
		}
		values := slices.Clone(oddities)
		for _, choice := range p.Schema.Value.Enum {
			values = append(values, fmt.Sprint(choice))
		}
		for _, value := range values {
			g.try(path+"?"+url.Values{p.Name: {value}}.Encode(), "")
			g.try(path+"?"+url.Values{p.Name: {value, value}, "limit": {"1"}}.Encode(), "")
		}
	}
	g.try(path+"?%zz&a=%00;b", "")
}

// examples are the bodies that the description shows.
func (g *generator) examples() (all []any) {
	if g.operation.RequestBody == nil {
		return nil
	}
	content := g.operation.RequestBody.Value.Content["application/json"]
	if content == nil {
		return nil // it takes only a file
	}
	for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
		all = append(all, content.Examples[name].Value.Value)
	}
	return all
}

// example is one of them as text, or nothing.
func (g *generator) example() string {
	for _, example := range g.examples() {
		return toJSON(example)
	}
	return ""
}

// bodies tries every example, and each with one value missing or replaced.
func (g *generator) bodies(path string) {
	if g.operation.RequestBody == nil {
		return
	}
	for _, raw := range []string{"", "null", "[]", "1", `"x"`, "{", `{"a":1}{}`, strings.Repeat("[", 20000), `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "\xff\xfe"} {
		g.try(path, raw)
	}
	for _, example := range g.examples() {
		g.try(path, toJSON(example))
		mutate(example, func(broken any) { g.try(path, toJSON(broken)) })
	}
}

// replacements are tried in the place of a value.
var replacements = []any{nil, "", "x", strings.Repeat("é", 5000), -1, 0, 1e300, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"": nil}, "\u0000", "https://user@127.0.0.1/"}

// mutate visits a document once with each of its values removed and replaced.
func mutate(document any, visit func(any)) {
	var walk func(value any, put func(any))
	walk = func(value any, put func(any)) {
		for _, other := range replacements {
			put(other)
			visit(document)
		}
		put(value)
		switch v := value.(type) {
		case map[string]any:
			for name, inner := range maps.Clone(v) {
				delete(v, name)
				visit(document)
				walk(inner, func(other any) { v[name] = other })
			}
		case []any:
			for i, inner := range v {
				walk(inner, func(other any) { v[i] = other })
			}
		}
	}
	if object, ok := document.(map[string]any); ok {
		for name, inner := range maps.Clone(object) {
			delete(object, name)
			visit(document)
			walk(inner, func(other any) { object[name] = other })
		}
	}
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
