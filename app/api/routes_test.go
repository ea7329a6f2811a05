package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

func TestEveryPathSaysWhichMethodsItTakes(t *testing.T) {
	f := serve(t)
	id := "/labels/" + f.db.NewID(storage.PrefixLabel)
	tests := []struct{ method, path, key, allow string }{
		{"PUT", "/labels", f.tenant.Secret, "GET, HEAD, POST"},
		{"DELETE", "/labels", f.tenant.Secret, "GET, HEAD, POST"},
		{"OPTIONS", "/labels", f.tenant.Secret, "GET, HEAD, POST"},
		{"TRACE", "/labels", f.tenant.Secret, "GET, HEAD, POST"},
		{"BREW", "/labels", f.tenant.Secret, "GET, HEAD, POST"},
		{"get", "/labels", f.tenant.Secret, "GET, HEAD, POST"}, // methods have a case
		{"POST", id, f.tenant.Secret, "GET, HEAD, PATCH, DELETE"},
		{"POST", "/me", f.tenant.Secret, "GET, HEAD"},
		{"POST", "/health", "", "GET, HEAD"}, // public with any method
		{"DELETE", "/openapi.json", "", "GET, HEAD"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			is := is.New(t)
			got := f.callAs(tt.key, tt.method, tt.path, "")
			is.Equal(got.code(), "405 method_not_allowed")
			is.Equal(got.get("error.type"), "invalid_request_error")
			is.Equal(got.header.Get("Allow"), tt.allow)
		})
	}
	is.New(t).Equal(f.callAs("", "PUT", "/labels", "").code(), "401 missing_api_key") // not shown to strangers
}

func TestAWordMayStandWhereOthersHaveAnId(t *testing.T) {
	f := serve(t)
	says := func(word string) rest.Handler {
		return func(r *rest.Request) (rest.Reply, error) { return rest.OK(word + r.Param("id")), nil }
	}
	f.mount(
		rest.At("GET", "/things/:id", says("get "), 0, nil),
		rest.At("POST", "/things/:id/labels", says("label "), 0, nil),
		rest.At("POST", "/things/sweep", says("only "), rest.NamedAction, nil),
	)
	for _, tt := range []struct{ method, path, want, allow string }{
		{"POST", "/things/sweep", "only sweep", ""},
		{"GET", "/things/sweep", "get sweep", ""}, // an id like any other
		{"GET", "/things/x", "get x", ""},
		{"POST", "/things/x/labels", "label x", ""},
		{"POST", "/things/x", "405 method_not_allowed", "GET, HEAD"},
		{"POST", "/things/sweeper", "405 method_not_allowed", "GET, HEAD"},
		{"PUT", "/things/x", "405 method_not_allowed", "GET, HEAD"},
		{"PUT", "/things/sweep", "405 method_not_allowed", "GET, HEAD, POST"},
		{"POST", "/things/sweep/", "404 resource_not_found", ""},
		{"POST", "/things/", "404 resource_not_found", ""},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			is := is.New(t)
			got := f.call(tt.method, tt.path, "")
			if got.status == 200 {
				is.Equal(got.get("data"), tt.want)
			} else {
				is.Equal(got.code(), tt.want)
			}
			is.Equal(got.header.Get("Allow"), tt.allow)
		})
	}
}

func TestAnUnknownPathIsMissingOnlyToThoseWithAKey(t *testing.T) {
	f := serve(t)
	made := f.call("POST", "/labels", `{"name":"VIP"}`)
	id := made.text("data.id")
	for _, path := range []string{
		"", "/", "/nowhere", "/labels/", "//labels", "/labels//" + id, "/labels/" + id + "/", "/labels/" + id + "/more", "/Labels", "/me/", "/v1/me",
		"/health/", "/health/x", "/%68ealth/", "/labels%2F" + id, "/labels%2f" + id, "/labels/%2F" + id, "/labels/../health", "/./me", "/labels/" + id + "%00",
	} {
		t.Run(path, func(t *testing.T) {
			is := is.New(t)
			got := f.call("GET", path, "")
			is.Equal(got.code(), "404 resource_not_found")
			is.Equal(got.get("error.type"), "not_found")
			is.Equal(f.callAs("", "GET", path, "").code(), "401 missing_api_key")
			is.Equal(f.call("HEAD", path, "").status, 404)
		})
	}
	is := is.New(t)
	is.Equal(f.call("GET", "/l%61bels/"+id, "").get("data.id"), id) // other escapes mean what they say
	is.Equal(f.callAs("", "GET", "/openapi%2Ejson", "").status, 200)
}
