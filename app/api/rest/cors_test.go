package rest

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func allowing(origins ...string) func(*Options) {
	return func(o *Options) { o.CORSOrigins = origins }
}

func TestCORSIsOffUnlessOriginsAreNamed(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	got := f.call("GET", "/me", "", "Origin: https://app.example")
	is.Equal(got.status, 200)
	is.Equal(got.header.Get("Access-Control-Allow-Origin"), "")
	is.Equal(got.header.Get("Vary"), "")
	preflight := f.callAs("", "OPTIONS", "/labels", "", "Origin: https://app.example", "Access-Control-Request-Method: POST")
	is.Equal(preflight.code(), "401 missing_api_key")
}

func TestANamedOriginMayCall(t *testing.T) {
	f := serve(t, allowing("https://app.example", "http://localhost:3000"))
	tests := []struct {
		origin  string
		allowed bool
	}{
		{"https://app.example", true}, {"http://localhost:3000", true}, {"http://app.example", false}, {"https://app.example:8443", false},
		{"https://evil.example", false}, {"https://app.example.evil", false}, {"https://app.exampl", false}, {"app.example", false}, {"https://APP.example", false}, {"null", false}, {"*", false},
	}
	for _, tt := range tests {
		t.Run(tt.origin, func(t *testing.T) {
			is := is.New(t)
			want := ""
			if tt.allowed {
				want = tt.origin
			}
			for _, path := range []string{"/me", "/nowhere"} { // errors must be readable too
				got := f.call("GET", path, "", "Origin: "+tt.origin)
				is.Equal(got.header.Get("Access-Control-Allow-Origin"), want)
				is.Equal(got.header.Get("Vary"), "Origin")
				is.Equal(strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "X-Request-Id"), tt.allowed)
				is.Equal(got.header.Get("Access-Control-Allow-Credentials"), "") // keys, never cookies
			}
			preflight := f.callAs("", "OPTIONS", "/labels", "", "Origin: "+tt.origin, "Access-Control-Request-Method: PATCH")
			is.Equal(preflight.header.Get("Access-Control-Allow-Origin"), want)
			if !tt.allowed {
				is.Equal(preflight.code(), "401 missing_api_key")
				return
			}
			is.Equal(preflight.status, 204)
			is.Equal(preflight.body, "")
			is.Equal(preflight.header.Get("Access-Control-Allow-Methods"), "GET, HEAD, POST, PUT, PATCH, DELETE")
			for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match"} {
				is.True(strings.Contains(preflight.header.Get("Access-Control-Allow-Headers"), name))
			}
			is.Equal(preflight.header.Get("Access-Control-Max-Age"), "7200")
		})
	}
	is := is.New(t)
	got := f.call("GET", "/me", "") // no browser
	is.Equal(got.status, 200)
	is.Equal(got.header.Get("Access-Control-Allow-Origin"), "")
	is.Equal(got.header.Get("Vary"), "Origin") // a cache must not give it to one
	options := f.call("OPTIONS", "/labels", "", "Origin: https://app.example")
	is.Equal(options.code(), "405 method_not_allowed") // no preflight without the method it is for
}

func TestTheStarAllowsEveryOrigin(t *testing.T) {
	is := is.New(t)
	f := serve(t, allowing("*"))
	got := f.call("GET", "/me", "", "Origin: https://anything.example")
	is.Equal(got.header.Get("Access-Control-Allow-Origin"), "https://anything.example")
	preflight := f.callAs("", "OPTIONS", "/labels", "", "Origin: null", "Access-Control-Request-Method: POST")
	is.Equal(preflight.status, 204)
}
