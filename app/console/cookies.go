package console

import (
	"net/http"
	"time"
)

// The cookies, by their base names: see cookieName.
const (
	sessionCookie   = "confab_session"
	deviceCookie    = "confab_device"      // which accounts have signed in here
	signedOutCookie = "confab_signed_out"  // in a sandbox: who signed out stays so
	secondCookie    = "confab_second_step" // the ticket of the second step of signing in
	passkeyCookie   = "confab_passkey"     // the challenge of a passkey
	oidcCookie      = "confab_oidc"        // that of a try to sign in through the identity provider
)

// cookieLife is as long as browsers keep a cookie at most.
const cookieLife = 400 * 24 * time.Hour

// cookieName is what browsers call a cookie. Two servers on one host, with other ports, have other
// names, because cookies know no ports. Under https the prefix __Host- keeps other hosts of the
// domain from setting the cookie.
func (c *Console) cookieName(base string) string {
	if c.public.Scheme == "https" {
		base = "__Host-" + base
	}
	if port := c.public.Port(); port != "" {
		base += "_" + port
	}
	return base
}

// setCookie gives the browser a cookie that no script can read. No life deletes it.
func (v *visit) setCookie(base, value string, life time.Duration) {
	cookie := &http.Cookie{
		Name:     v.cookieName(base),
		Value:    value,
		Path:     "/",
		MaxAge:   int(life / time.Second),
		HttpOnly: true,
		Secure:   v.public.Scheme == "https",
		SameSite: http.SameSiteLaxMode,
	}
	if life == 0 {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

// cookie is the value of a cookie; "" without one.
func (c *Console) cookie(r *http.Request, base string) string {
	if found, err := r.Cookie(c.cookieName(base)); err == nil {
		return found.Value
	}
	return ""
}
