package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

func TestEveryRouteNeedsAKeyBeforeAnythingElse(t *testing.T) {
	f, ours, _ := serveEverything(t)
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		for _, body := range attempts(ours, rt) {
			is := is.New(t)
			is.Equal(f.callAs("", rt.Method, ours.path(t, rt, nil), body).code(), "401 missing_api_key")
			is.Equal(f.callAs("svc_live_000000000000000000000000", rt.Method, ours.path(t, rt, nil), body).code(), "401 invalid_api_key")
		}
	})
}

func TestEveryRouteIsClosedToASuspendedOrganization(t *testing.T) {
	f, ours, _ := serveEverything(t)
	f.change(ours.Tenant, func(o *storage.Organization) { o.SuspendedAt = 1 })
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		is.New(t).Equal(f.callAs(ours.Secret, rt.Method, ours.path(t, rt, nil), "{").code(), "403 organization_suspended")
	})
}

// takes reports whether a route is at a path. One path may have several: the
// word of /contacts/bulk_label is also an id of /contacts/:id.
func takes(rt *rest.Route, path string) bool {
	pattern, parts := strings.Split(rt.Path, "/"), strings.Split(path, "/")
	return slices.EqualFunc(pattern, parts, func(want, part string) bool { return want == part || strings.HasPrefix(want, ":") })
}

func TestEveryPathNamesItsMethods(t *testing.T) {
	f, ours, _ := serveEverything(t)
	paths := make(map[string]bool)
	f.everyRoute(t, func(t *testing.T, _ *fixture, rt rest.Route) { paths[ours.path(t, rt, nil)] = true })
	is.New(t).True(len(paths) >= 30)
	for path := range paths {
		t.Run(path, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			taken := make(map[string]bool)
			for _, rt := range f.api.Routes() {
				if takes(&rt, path) {
					taken[rt.Method] = true
					taken[http.MethodHead] = taken[http.MethodGet]
				}
			}
			var want []string
			for _, method := range rest.Methods {
				if taken[method] {
					want = append(want, method)
				} else {
					is.Equal(f.callAs(ours.Secret, method, path, "").status, 405)
				}
			}
			other := f.callAs(ours.Secret, "PURGE", path, "") // which no path takes
			is.Equal(other.status, 405)
			is.Equal(other.header.Get("Allow"), strings.Join(want, ", "))
		})
	}
}

// gets runs a test for each route that reads, with the path of something that is
// there.
func (f *fixture) gets(t *testing.T, o owner, test func(t *testing.T, f *fixture, rt rest.Route, path string)) {
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Method == http.MethodGet {
			test(t, f, rt, o.path(t, rt, nil))
		}
	})
}

func TestHeadWorksWhereverGetDoes(t *testing.T) {
	f, ours, _ := serveEverything(t)
	f.gets(t, ours, func(t *testing.T, f *fixture, rt rest.Route, path string) {
		is := is.New(t)
		get, head := f.callAs(ours.Secret, "GET", path, ""), f.callAs(ours.Secret, "HEAD", path, "")
		is.True(get.status == 200 || get.status == 302)
		is.Equal(head.status, get.status)
		is.Equal(head.body, "")
		if rt.Path != "/events/stream" && !strings.HasSuffix(rt.Path, ".csv") { // which do not know it before
			is.Equal(get.header.Get("Content-Length"), strconv.Itoa(len(get.body)))
		}
		for _, name := range []string{"Content-Length", "Content-Type", "ETag", "Location"} {
			is.Equal(head.header.Get(name), get.header.Get(name))
		}
		is.True(head.header.Get("X-Request-Id") != get.header.Get("X-Request-Id"))
	})
	is := is.New(t)
	head := f.call("HEAD", "/labels/lbl_x", "")
	is.Equal(head.status, 404)
	is.Equal(head.body, "")
	is.Equal(head.header.Get("Content-Type"), "application/json")
	is.Equal(f.call("HEAD", "/labels?limit=0", "").status, 400)
	head = f.callAs("", "HEAD", "/me", "")
	is.Equal(head.status, 401)
	is.Equal(head.header.Get("WWW-Authenticate"), "Bearer")
	is.Equal(f.callAs("", "HEAD", "/health", "").status, 200)
}

func TestEveryRouteIgnoresQueriesThatItDoesNotKnow(t *testing.T) {
	f, ours, _ := serveEverything(t)
	f.gets(t, ours, func(t *testing.T, f *fixture, rt rest.Route, path string) {
		is := is.New(t)
		plain := f.callAs(ours.Secret, "GET", path, "")
		for _, query := range []string{"?unknown=1", "?LIMIT=0&Cursor=x", "?a=%zz&;", "?=&&"} {
			if strings.Contains(path, "?") {
				query = "&" + query[1:]
			}
			got := f.callAs(ours.Secret, "GET", path+query, "")
			is.Equal(got.status, plain.status)
			if !strings.HasSuffix(rt.Path, "/stats") { // which has the time
				is.True(reflect.DeepEqual(got.get("data"), plain.get("data")))
			}
		}
	})
}

func TestEveryTagIsHonoured(t *testing.T) {
	f, ours, _ := serveEverything(t)
	tagged := 0
	f.gets(t, ours, func(t *testing.T, f *fixture, rt rest.Route, path string) {
		is := is.New(t)
		tag := f.callAs(ours.Secret, "GET", path, "").header.Get("ETag")
		is.Equal(tag != "", describedOperation(rt).Responses.Value("304") != nil) // as it is described
		if tag == "" {
			is.Equal(f.callAs(ours.Secret, "GET", path, "", "If-None-Match: *").status/100, f.callAs(ours.Secret, "GET", path, "").status/100)
			return
		}
		tagged++
		for _, held := range []string{tag, `"x", ` + tag + `, "y"`, "*", strings.TrimPrefix(tag, "W/")} {
			got := f.callAs(ours.Secret, "GET", path, "", "If-None-Match: "+held)
			is.Equal(got.status, 304)
			is.Equal(got.body, "")
			is.Equal(got.header.Get("ETag"), tag)
		}
		is.Equal(f.callAs(ours.Secret, "GET", path, "", `If-None-Match: "x"`).status, 200)
	})
	is.New(t).True(tagged >= 2) // messages and conversations
}

func TestEveryListKnowsItsLimitAndCursor(t *testing.T) {
	f, ours, _ := serveEverything(t)
	lists := 0
	f.gets(t, ours, func(t *testing.T, f *fixture, rt rest.Route, path string) {
		is := is.New(t)
		got := f.callAs(ours.Secret, "GET", path, "")
		_, list := got.get("data").([]any)
		if !list {
			return
		}
		lists++
		is.Equal(got.get("has_more"), false)
		is.True(strings.Contains(got.body, `"next_cursor":null`))
		if describedOperation(rt).Parameters.GetByInAndName("query", "limit") == nil {
			return // never more than a page
		}
		for _, limit := range []string{"0", "-1", "101", "x", "", "1.5", "1e1", "0x1", "99999999999999999999", "+1", "%201"} {
			got := f.callAs(ours.Secret, "GET", path+"?limit="+limit, "")
			if got.code() != "400 invalid_limit limit" {
				t.Errorf("limit=%s: %s", limit, got.body)
			}
		}
		for _, cursor := range []string{"", "x", "AAAA", strings.Repeat("A", 5000), "null", "%00"} {
			got := f.callAs(ours.Secret, "GET", path+"?cursor="+cursor, "")
			if got.code() != "400 invalid_cursor cursor" {
				t.Errorf("cursor=%.20s: %s", cursor, got.body)
			}
		}
		for _, limit := range []string{"1", "100", "25"} {
			is.Equal(f.callAs(ours.Secret, "GET", path+"?limit="+limit, "").status, 200)
		}
	})
	is.New(t).True(lists >= 7)
}

func TestEveryPatchNeedsSomethingToDo(t *testing.T) {
	f, ours, _ := serveEverything(t)
	before := f.contents()
	patches := 0
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Method != http.MethodPatch {
			return
		}
		patches++
		for _, body := range []string{``, `{}`, ` {} `, `{"unknown":1}`, `{"ID":"x","object":"y"}`} {
			got := f.callAs(ours.Secret, "PATCH", ours.path(t, rt, nil), body)
			if got.status != 400 || got.text("error.code") != "missing_required_field" || got.text("error.param") == "" {
				t.Errorf("%s: %s", body, got.body)
			}
		}
	})
	is.New(t).True(patches >= 7)
	is.New(t).Equal(f.contents(), before)
}

// demanded are the fields without which a body cannot be, on its first level.
func demanded(schema *openapi3.Schema) []string {
	if len(schema.OneOf) > 0 {
		return nil // it depends
	}
	return schema.Required
}

func TestEveryRequiredFieldIsMissed(t *testing.T) {
	f, ours, _ := serveEverything(t)
	missed := 0
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		operation := describedOperation(rt)
		if rt.Method != http.MethodPost || operation.RequestBody == nil || rt.Has(rest.Uploads) { // which has two kinds of body
			return
		}
		content := operation.RequestBody.Value.Content["application/json"]
		for _, name := range demanded(content.Schema.Value) {
			for _, example := range content.Examples {
				whole, _ := example.Value.Value.(map[string]any)
				missed++
				broken := maps.Clone(whole)
				delete(broken, name)
				absent := f.callAs(ours.Secret, "POST", ours.path(t, rt, nil), toJSON(broken))
				broken[name] = nil
				null := f.callAs(ours.Secret, "POST", ours.path(t, rt, nil), toJSON(broken))
				for _, got := range []answer{absent, null} {
					if got.code() != "400 missing_required_field "+name {
						t.Errorf("without %s: %s", name, got.body)
					}
				}
			}
		}
	})
	is.New(t).True(missed >= 10)
}

// Every POST that is repeated under its Idempotency-Key answers as it did.
func TestEveryPostCanBeRepeated(t *testing.T) {
	f, ours, _ := serveEverything(t)
	tried := 0
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Method != http.MethodPost || rt.Has(rest.Uploads) { // whose examples lie outside
			return
		}
		bodies := ours.bodies(rt)
		if rt.Path == "/rules/reorder" { // which takes every rule, and another was made here
			bodies = []string{toJSON(map[string]any{"ids": f.callAs(ours.Secret, "GET", "/rules", "").ids()})}
		}
		for i, body := range append(bodies, "") {
			key := fmt.Sprintf("Idempotency-Key: %s %d", rt.Path, i)
			first := f.callAs(ours.Secret, "POST", ours.path(t, rt, nil), body, key)
			if first.status/100 != 2 {
				continue // the example is for another state of things
			}
			tried++
			is := is.New(t)
			before := f.contents()
			again := f.callAs(ours.Secret, "POST", ours.path(t, rt, nil), body, key)
			is.Equal(again.status, first.status)
			is.Equal(again.body, first.body)
			is.Equal(again.header.Get("Idempotent-Replayed"), "true")
			is.Equal(again.header.Get("X-Request-Id"), first.header.Get("X-Request-Id"))
			is.Equal(f.contents(), before) // and does nothing
			is.Equal(f.callAs(ours.Secret, "POST", ours.path(t, rt, nil), `{"other":1}`, key).code(), "422 idempotency_key_reuse")
			return
		}
		t.Error("none of its examples is taken")
	})
	is.New(t).True(tried >= 10)
}
