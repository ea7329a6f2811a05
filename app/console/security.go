package console

import "net/http"

// contentPolicy lets a page load nothing but our own files, and makes no markup of texts. The one
// policy of trusted types gives the address of the service worker, and no other.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
	"media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types confab-worker; worker-src 'self'; manifest-src 'self'"

// setHeaders sets what every answer of the console carries. Under a stricter
// Referrer-Policy browsers would hide the origin of a form.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// comesFromUs reports whether a request may change something: it comes from a page of
// ours, or from no browser. A request that carries a session comes from a browser, and
// every browser says from where it comes in one of two headers; one that says neither is
// refused.
func (c *Console) comesFromUs(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}

	if c.origins.Check(r) != nil {
		return false
	}

	_, err := r.Cookie(c.cookieName(sessionCookie))
	says := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	return err != nil || says
}
