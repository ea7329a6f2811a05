package console

import (
	"net/http/httptest"
	"path"
	"strings"
	"testing"
)

// FuzzSimulatorPath: no path of a request leads out of /_sim.
func FuzzSimulatorPath(f *testing.F) {
	for _, seed := range []string{"people", "people/15550001111/messages", "messages/wamid.a%2Fb%3D/status", "../v1", "%2e%2e/x", "a//b", "./a", "a%2f..%2f..%2fb", "%zz", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, escaped string) {
		if !isPlainPath(escaped) {
			return
		}
		if whole := "/_sim/" + escaped; path.Clean(whole) != whole {
			t.Errorf("%q leads to %q", escaped, path.Clean(whole))
		}
		r := httptest.NewRequest("GET", "/", nil)
		if inner := withPath(r.Context(), r, "/_sim/", escaped); !strings.HasPrefix(inner.URL.EscapedPath(), "/_sim/") {
			t.Errorf("%q became %q", escaped, inner.URL.EscapedPath())
		}
	})
}
