package console

import (
	"fmt"
	"net/http"
	"time"

	"confab/storage"
)

// A sandbox signs its visitor in by itself, because it is for trying things out on one's
// own machine. That must not help anybody else: not a page elsewhere that the visitor
// looks at, not a name that leads here, not another machine, not a proxy. A user who signed out
// gets the page of signing in.

// mayContinue reports whether the visitor may be signed in without a password: it is at
// this machine, and comes from nowhere or from a page of ours.
func (v *visit) mayContinue() bool {
	if v.SandboxUser == nil || !v.IsLocal(v.r) {
		return false
	}
	site := v.r.Header.Get("Sec-Fetch-Site")
	return site == "none" || site == "same-origin"
}

// signInToSandbox signs in who asks for a page of a sandbox, where that is allowed. Of
// the methods only GET does it.
func (v *visit) signInToSandbox() (storage.SignedIn, error) {
	stayOut := v.cookie(v.r, signedOutCookie) != ""
	if v.r.Method != http.MethodGet || stayOut || !v.mayContinue() {
		return storage.SignedIn{}, errNoSession()
	}

	who, err := v.sandboxUser()
	if err != nil {
		return who, err
	}
	return who, v.startSession(who.User, nil)
}

// sandboxUser is the user of the sandbox, as one who is signed in.
func (v *visit) sandboxUser() (who storage.SignedIn, err error) {
	err = v.DB.View(v.r.Context(), func(rx *storage.Rx) (err error) {
		if who.User, err = rx.UserByID(v.SandboxUser()); err != nil {
			return err
		}
		who.Organization, err = rx.OrganizationByID(who.User.OrganizationID)
		return err
	})
	if err == nil && who.User.DisabledAt != 0 {
		err = errNoSession()
	}
	return who, err
}

// continueAsUser handles POST sign-in from the button of a sandbox.
func (v *visit) continueAsUser() error {
	if !v.mayContinue() {
		return v.showError(http.StatusForbidden, "Not available here", "Sign in with your email and password.")
	}

	who, err := v.sandboxUser()
	if err == nil {
		err = v.startSession(who.User, nil)
	}
	if isNoSession(err) {
		return v.showError(http.StatusForbidden, "This person is disabled", "Enable them with 'confab users enable'.")
	}
	if err != nil {
		return err
	}
	return v.redirect(http.StatusSeeOther, nextPage(v.r.PostForm.Get("next")))
}

// offsetText is how far the clock of a sandbox was moved, such as "+1d 2h"; "" if it was not.
func offsetText(offset time.Duration) string {
	days, hours := offset/(24*time.Hour), offset%(24*time.Hour)/time.Hour
	switch {
	case offset == 0:
		return ""
	case offset < time.Hour:
		return fmt.Sprintf("+%dm", max(1, offset/time.Minute))
	case days == 0:
		return fmt.Sprintf("+%dh", hours)
	case hours == 0:
		return fmt.Sprintf("+%dd", days)
	}
	return fmt.Sprintf("+%dd %dh", days, hours)
}
