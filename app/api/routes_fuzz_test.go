package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzRoutes sends any body and any query to any route. The fixture's client
// holds every answer against the description; none may be a fault of ours.
func FuzzRoutes(f *testing.F) {
	routes := (&Server{}).routes()
	doc := described().doc
	for i, rt := range routes {
		g := generator{operation: doc.Paths.Find(braces(rt.path)).GetOperation(rt.method)}
		f.Add(uint(i), "01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "limit=1&cursor=x&status=all", g.example())
	}
	served, _ := serveLibrary(f)
	f.Fuzz(func(t *testing.T, at uint, id, query, body string) {
		rt := routes[at%uint(len(routes))]
		path := strings.Replace(rt.path, ":phone_number_id", number, 1)
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if strings.HasPrefix(part, ":") {
				parts[i] = id
			}
		}
		req, err := http.NewRequest(rt.method, served.url+strings.Join(parts, "/")+"?"+query, strings.NewReader(body))
		if err != nil || slices.ContainsFunc([]byte(req.URL.RequestURI()), func(c byte) bool { return c <= ' ' || c >= 0x7f }) {
			t.Skip("no request that a client could make")
		}
		req.Header.Set("Authorization", "Bearer "+served.tenant.Secret)
		req.Header.Set("Content-Type", "application/json")
		if got := served.in(t).do(req); got.status >= 500 && got.text("error.code") != "whatsapp_upstream_error" {
			t.Errorf("%s %s %.300q -> %s", rt.method, req.URL, body, got.body)
		}
	})
}
