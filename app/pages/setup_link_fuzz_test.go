package pages

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzRedirect lets any text be where a link leads. For any text, no one is
// sent to another place, and nothing of it gets into another header.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{
		"https://app.test/ok?x=1", "https://app.test\r\nSet-Cookie: a=b", "https://app.test/#frag?x", "https://a;script-src *", "//evil.test", "javascript:alert(1)",
		"https://app.test/%0d%0aX: y?%0d%0a", "https://[::1%25\"]/", "https://app.test/\u2028\x00\x7f", "https://app.test?customer_id=cus_2#status=success",
	} {
		f.Add(seed, "provider_error")
	}
	f.Fuzz(func(t *testing.T, target, value string) {
		rec := httptest.NewRecorder()
		v := &visit{w: rec, r: httptest.NewRequest("GET", "/", nil)}
		if v.redirectWithQuery(target, "status", "failed", "reason", value) != nil {
			return // what cannot be read is not gone to
		}
		location := rec.Header().Get("Location")
		if strings.ContainsFunc(location, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q leads to %q", target, location)
		}
		before, _ := url.Parse(target)
		after, err := url.Parse(location)
		if err != nil {
			return // only from a host that the API does not take
		}
		if after.Scheme != before.Scheme || after.Hostname() != before.Hostname() && !strings.ContainsAny(before.Host, "%") {
			t.Errorf("%q leads to %q", target, location)
		}
		values := after.Query()["reason"]
		if before.Opaque == "" && (len(values) == 0 || values[len(values)-1] != value) && !strings.ContainsAny(before.RawQuery, ";%") {
			t.Errorf("%q leads to %q without the reason %q", target, location, value)
		}
		v.invitation.SuccessRedirectURL = &target
		if policy := v.contentPolicy(page{}); strings.Count(policy, ";") != 6 || strings.ContainsAny(policy, "\r\n,\"") {
			t.Errorf("%q makes the policy %q", target, policy)
		}
	})
}
