package console

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"

	"confab/app/limit"
	"confab/app/oidc"
	"confab/app/ticket"
	"confab/storage"
)

const (
	oidcPurpose = "identity provider"
	// oidcLife is how long signing in at the provider may take.
	oidcLife = 10 * time.Minute
)

// oidcTicket is what the cookie holds of somebody who is at the provider.
type oidcTicket struct {
	oidc.Attempt
	Next       string `json:"next"`
	Invitation string `json:"invitation"` // the token of a link that is taken up; "" for none
}

// startOIDC handles GET oidc/start: it sends the browser to the provider.
func (v *visit) startOIDC() error {
	query := v.r.URL.Query()
	t := oidcTicket{Attempt: oidc.NewAttempt(), Next: nextPage(query.Get("next")), Invitation: query.Get("invitation")}
	if len(t.Invitation) > maxNext {
		t.Invitation = ""
	}
	if site := v.r.Header.Get("Sec-Fetch-Site"); t.Invitation != "" && site != "" && site != "same-origin" {
		// A page elsewhere must not choose to whom its visitor's account is bound.
		return v.redirect(http.StatusFound, "welcome/"+url.PathEscape(t.Invitation))
	}

	target, err := v.Provider.SignInURL(v.r.Context(), limit.Stranger(v.API.ClientIP(v.r)), t.Attempt, query.Has("again"))
	if err != nil {
		return v.refuseOIDC(err, t.Next)
	}
	text, err := ticket.Seal(v.DB, oidcPurpose, oidcLife, t)
	if err != nil {
		return err
	}
	v.setCookie(oidcCookie, text, oidcLife)
	v.w.Header().Set("Location", target)
	v.w.WriteHeader(http.StatusFound)
	return nil
}

// finishOIDC handles GET oidc/callback, where the browser comes back from the provider.
func (v *visit) finishOIDC() error {
	query := v.r.URL.Query()
	var t oidcTicket
	ours := ticket.Open(v.DB, oidcPurpose, v.cookie(v.r, oidcCookie), &t)
	v.setCookie(oidcCookie, "", 0)

	switch {
	case !ours || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(t.State)) != 1 || !v.used.First(t.State):
		return v.refuseOIDC(refusal(v.say("This sign-in took too long, or was used already. Try again.")), t.Next)
	case query.Has("error"):
		return v.refuseOIDC(refusal(v.say("%s didn’t sign you in. Try again, or ask an admin.", v.Provider.Name)), t.Next)
	}

	identity, err := v.Provider.Identify(v.r.Context(), limit.Stranger(v.API.ClientIP(v.r)), t.Attempt, query.Get("code"))
	if err == nil {
		err = v.startSessionOf(func(tx *storage.Tx) (storage.User, error) { return v.findIdentified(tx, identity, t.Invitation) })
	}
	if err != nil {
		return v.refuseOIDC(err, t.Next)
	}
	return v.redirect(http.StatusSeeOther, t.Next)
}

// refusal is why the provider's word does not let somebody in, for that person.
type refusal string

func (r refusal) Error() string { return string(r) }

// refuseOIDC shows the page of signing in with the reason. What went wrong at the provider is
// logged: the operator has to mend it.
func (v *visit) refuseOIDC(err error, next string) error {
	why, isRefusal := errors.AsType[refusal](err)
	status, form := http.StatusForbidden, signInForm{Problem: string(why), Next: next}
	warn := v.Log.Warn
	if !isRefusal && !v.API.LogsStranger(v.API.ClientIP(v.r)) {
		warn = v.Log.Debug
	}

	switch {
	case isRefusal:
	case errors.Is(err, oidc.ErrRefused):
		warn("sign-in through the identity provider refused", "error", err)
		form.Problem = v.say("Couldn’t verify what %s answered. Try again, or ask an admin.", v.Provider.Name)
	case errors.Is(err, oidc.ErrUnavailable):
		warn("identity provider not available", "error", err)
		v.w.Header().Set("Retry-After", "10")
		status = http.StatusServiceUnavailable
		form.Problem = v.say("Can’t reach %s right now. Try again in a moment.", v.Provider.Name)
	default:
		return err
	}
	return v.showSignInForm(status, form)
}
