package console

import (
	"encoding/json"
	"errors"
	"net/http"

	"confab/app/api/rest"
	"confab/app/console/api"
	"confab/app/factor"
	"confab/storage"
)

// factorForm is what the page shows on which somebody sets up a second factor who must have one
// before anything else. Later it is done in the profile.
type factorForm struct {
	Again    bool // sign in again first
	Problem  string
	New      api.NewCodes
	Host     string   // for which browsers make passkeys; "" for none
	Recovery []string // shown once, when it is done
}

// Groups is the secret as people type it.
func (f factorForm) Groups() string { return factor.InGroups(f.New.Secret, " ") }

// findWhoLacksFactor finds who is signed in and must set up a second factor. It answers itself,
// and returns false, for everybody else.
func (v *visit) findWhoLacksFactor() (who storage.SignedIn, ok bool, err error) {
	who, err = v.findSession(v.r)
	v.speakTo(who.User)
	switch {
	case isNoSession(err):
		return who, false, v.redirect(http.StatusSeeOther, signInLink(v.path, ""))
	case err != nil:
		return who, false, err
	case !v.API.FactorPolicy.IsBrokenBy(who.User):
		return who, false, v.redirect(http.StatusSeeOther, "settings/profile")
	case !api.IsRecentSignIn(who.Session, v.DB.Now()):
		return who, false, v.showFactorForm(http.StatusOK, factorForm{Again: true})
	}
	return who, true, nil
}

func (v *visit) showFactorForm(status int, form factorForm) error {
	return v.writePage(status, page{Title: v.say("Set up a second factor"), Factor: &form})
}

// showFactorSetup handles GET second-factor. Every look has another secret: none is stored
// before a code of it is given.
func (v *visit) showFactorSetup() error {
	who, ok, err := v.findWhoLacksFactor()
	if !ok {
		return err
	}
	return v.showNewCodes(http.StatusOK, who.User, "")
}

func (v *visit) showNewCodes(status int, u storage.User, problem string) error {
	n, err := v.API.NewCodes(u)
	if err != nil {
		return err
	}
	form := factorForm{New: n, Problem: problem}
	if v.API.Passkeys != nil {
		form.Host = v.API.Passkeys.Host
	}
	return v.showFactorForm(status, form)
}

// startFactorPasskey handles POST second-factor/passkey/start, for the script of the page.
func (v *visit) startFactorPasskey() error {
	who, ok, err := v.findWhoLacksFactor()
	if !ok {
		return err
	}
	if v.API.Passkeys == nil {
		return v.refusePasskeys()
	}
	n, err := v.API.NewPasskey(v.r.Context(), who.User)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(v.w).Encode(n)
}

// setUpFactor handles POST second-factor.
func (v *visit) setUpFactor() error {
	who, ok, err := v.findWhoLacksFactor()
	if !ok {
		return err
	}
	if ok, err := v.readForm(); !ok {
		return err
	}

	var recovery []string
	err = v.DB.Update(v.r.Context(), func(tx *storage.Tx) (err error) {
		if answer := v.r.PostForm.Get("answer"); answer != "" {
			recovery, err = v.API.StorePasskey(tx, who.User.ID, v.r.PostForm.Get("ticket"), v.say("My device"), []byte(answer))
		} else {
			recovery, err = v.API.StoreCodes(tx, who.User, v.r.PostForm.Get("ticket"), v.r.PostForm.Get("code"))
		}
		if err != nil {
			return err
		}
		return tx.Audit(who.User.OrganizationID, v.actor(who.User), "user.factor_added", "user", who.User.ID)
	})

	refused, isRefused := errors.AsType[*rest.Error](err)
	if err != nil && !isRefused {
		return err
	}
	if err == nil {
		return v.showFactorForm(http.StatusOK, factorForm{Recovery: recovery})
	}
	problem := v.say("Wrong code. Scan the new picture, and enter the code that the app shows for it.")
	switch refused.Param {
	case "credential":
		problem = v.say("This passkey couldn’t be verified. Try again, or use an authenticator app.")
	case "ticket":
		problem = v.say("This page was open for too long. Scan the new picture.")
	}
	return v.showNewCodes(http.StatusBadRequest, who.User, problem)
}
