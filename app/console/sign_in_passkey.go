package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"confab/app/console/api"
	"confab/app/factor"
	"confab/app/ticket"
	"confab/storage"
)

// Signing in with a passkey. The script of the page asks for a challenge, which a cookie
// remembers, has the browser answer it, and posts the answer. It names the person: no address is
// needed, and nothing after it.

const (
	passkeyPurpose = "passkey"
	passkeyLife    = 5 * time.Minute
)

// takesPasskeys reports whether people can sign in with a passkey.
func (v *visit) takesPasskeys() bool { return v.API.Passkeys != nil && !v.Provider.IsOnly() }

// passkeyForm is the part of a page that signs in with a passkey. Its script shows it where the
// browser can.
type passkeyForm struct {
	Host string // for which browsers use our passkeys
	Next string
}

// passkeyForm makes the part of a page; nil if no passkeys are taken.
func (v *visit) passkeyForm(next string) *passkeyForm {
	if !v.takesPasskeys() {
		return nil
	}
	return &passkeyForm{Host: v.API.Passkeys.Host, Next: next}
}

// startPasskey handles POST sign-in/passkey/start.
func (v *visit) startPasskey() error {
	if !v.takesPasskeys() {
		return v.refusePasskeys()
	}
	c, err := v.API.Passkeys.StartCheck()
	if err != nil {
		return err
	}
	text, err := ticket.Seal(v.DB, passkeyPurpose, passkeyLife, c.Challenge)
	if err != nil {
		return err
	}
	body, err := json.Marshal(c.Options)
	if err != nil {
		return err
	}

	v.setCookie(passkeyCookie, text, passkeyLife)
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write(body)
	return nil
}

func (v *visit) refusePasskeys() error {
	return v.showSignInForm(http.StatusForbidden, signInForm{Problem: v.say("Passkeys are off here. Sign in another way.")})
}

// signInByPasskey handles POST sign-in/passkey.
func (v *visit) signInByPasskey() error {
	if ok, err := v.readForm(); !ok {
		return err
	}
	if !v.takesPasskeys() {
		return v.refusePasskeys()
	}

	form := signInForm{Next: v.r.PostForm.Get("next")}
	var challenge webauthn.SessionData
	ok := ticket.Open(v.DB, passkeyPurpose, v.cookie(v.r, passkeyCookie), &challenge) && v.used.First(challenge.Challenge)
	v.setCookie(passkeyCookie, "", 0)
	if !ok {
		form.Problem = v.say("That took too long. Try again.")
		return v.showSignInForm(http.StatusUnauthorized, form)
	}

	answer := []byte(v.r.PostForm.Get("answer"))
	err := v.startSessionOf(func(tx *storage.Tx) (storage.User, error) { return v.usePasskey(tx, challenge, answer) })
	if err != nil {
		return v.refuseSignIn(form, err)
	}
	if v.cookie(v.r, secondCookie) != "" {
		v.setCookie(secondCookie, "", 0)
	}
	return v.redirect(http.StatusSeeOther, nextPage(form.Next))
}

// usePasskey finds the user whose passkey answered a challenge. Failures count for the address: no
// account can be tried out by them.
func (v *visit) usePasskey(tx *storage.Tx, challenge webauthn.SessionData, answer []byte) (u storage.User, err error) {
	if err := v.checkWait(v.network()); err != nil {
		return u, err
	}

	var rows []storage.UserPasskey
	id, credential, err := v.API.Passkeys.CheckPasskey(challenge, answer, func(owner string) (o factor.Owner, err error) {
		u, err = tx.UserByID(owner)
		if errors.Is(err, storage.ErrNotFound) || err == nil && u.DisabledAt != 0 {
			return o, factor.ErrPasskey
		}
		if err == nil {
			o, rows, err = api.PasskeyOwner(&tx.Rx, u)
		}
		return o, err
	})
	if errors.Is(err, factor.ErrPasskey) {
		v.API.PasswordTries.Fail(v.network())
	}
	if err != nil {
		return u, err
	}

	for _, p := range rows {
		if string(p.CredentialID) == string(id) {
			return u, tx.UsePasskey(p, credential)
		}
	}
	return u, factor.ErrPasskey
}
