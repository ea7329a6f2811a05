package e2e

import (
	"strings"
	"testing"

	"confab/storage"
)

// FuzzCookieLines sends any line of cookies. Only the session's own token opens anything,
// and nothing fails here.
func FuzzCookieLines(f *testing.F) {
	s := newStage(f)
	b, _ := s.joined("ada@example.com", storage.RoleAdmin)
	name, _, _ := strings.Cut(b.cookieLine(), "=")
	for _, line := range []string{
		"", ";", "=", name, name + "=", name + `="x"`, name + "=" + strings.Repeat("A", 43), name + "=x; " + name + "=y", b.cookieLine() + "; a=\"",
		name + "=" + b.session()[:42], "confab_device=" + strings.Repeat("a.", 500), "confab_signed_out=1", "__Host-" + name + "=" + strings.Repeat("B", 43),
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			t.Skip("no header that a client could send")
		}
		for _, path := range []string{"/console/api/v1/me", "/console/inbox", "/console/sign-in"} {
			got := ask(t, "GET", b.base+path, nil, "Cookie: "+line)
			opened := got.status == 200 && path != "/console/sign-in"
			if got.status >= 500 || opened && !strings.Contains(line, b.session()) {
				t.Errorf("%s with %q: %d", path, line, got.status)
			}
		}
	})
}
