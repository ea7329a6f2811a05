package console

import (
	"net/http"
	"net/url"
	"time"
)

// cookieNames are the names of our cookies. Two servers on one host, with other ports,
// have other names, because cookies know no ports.
type cookieNames struct {
	session   string
	device    string // which accounts have signed in here
	signedOut string // in a sandbox: who signed out stays so
	second    string // the ticket of the second step of signing in
	passkey   string // the challenge of a passkey
	oidc      string // that of a try to sign in through the identity provider
	secure    bool
}

// cookieLife is as long as browsers keep a cookie at most.
const cookieLife = 400 * 24 * time.Hour

// newCookieNames derives the names from the public URL. Under https the prefix __Host-
// keeps other hosts of the domain from setting the cookie.
func newCookieNames(publicURL string) cookieNames {
	prefix, suffix := "", ""
	u, err := url.Parse(publicURL)
	secure := err == nil && u.Scheme == "https"
	if secure {
		prefix = "__Host-"
	}
	if err == nil && u.Port() != "" {
		suffix = "_" + u.Port()
	}

	name := func(base string) string { return prefix + base + suffix }
	return cookieNames{
		session:   name("confab_session"),
		device:    name("confab_device"),
		signedOut: name("confab_signed_out"),
		second:    name("confab_second_step"),
		passkey:   name("confab_passkey"),
		oidc:      name("confab_oidc"),
		secure:    secure,
	}
}

// setCookie gives the browser a cookie that no script can read. No life deletes it.
func (v *visit) setCookie(name, value string, life time.Duration) {
	cookie := &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   int(life / time.Second),
		HttpOnly: true,
		Secure:   v.cookies.secure,
		SameSite: http.SameSiteLaxMode,
	}
	if life == 0 {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

// cookie is the value of a cookie; "" without one.
func cookie(r *http.Request, name string) string {
	if c, err := r.Cookie(name); err == nil {
		return c.Value
	}
	return ""
}
