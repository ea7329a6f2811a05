package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"confab/app/factor"
	"confab/app/limit"
	"confab/app/password"
	"confab/storage"
)

// maxFailures is how many failed sign-ins are recorded in a minute: more than anybody would
// read.
const maxFailures = 10_000

// maxForm is far more than any of our forms has.
const maxForm = 64 << 10

// holdUpTime is how long somebody waits for the answer that it tries too often, and maxHeldUp
// how many do at the same time.
const (
	holdUpTime = 250 * time.Millisecond
	maxHeldUp  = 16
)

// errWrong means that address and password do not belong together. It is the same
// in both cases.
var errWrong = errors.New("the address or the password is wrong")

// tooManyTriesError means that the next try has to wait.
type tooManyTriesError struct{ wait time.Duration }

func (e *tooManyTriesError) Error() string { return "too many tries" }

// signInForm is what the page of signing in shows.
type signInForm struct {
	Email      string
	Next       string // as it came; it is checked when it is used
	Problem    string
	ContinueAs string // the name on the button of a sandbox
	IsFirst    bool   // no user can sign in yet
	Provider   string // the name of the identity provider; "" if there is none
	Only       bool   // nothing else is offered
	Again      bool   // although there is a session
	Passkeys   *passkeyForm
}

// showSignIn handles GET sign-in. Those who are signed in go on, unless they are to sign in
// again.
func (v *visit) showSignIn() error {
	next := v.r.URL.Query().Get("next")
	who, err := v.findSession(v.r)
	v.speakTo(who.User)
	switch {
	case err == nil && v.r.URL.Query().Has("again"):
		return v.showSignInForm(http.StatusOK, signInForm{
			Next:    next,
			Email:   storage.OrEmpty(who.User.Email),
			Problem: v.say("Sign in again to make this change."),
			Again:   true,
		})
	case err == nil:
		return v.redirect(http.StatusFound, nextPage(next))
	case !isNoSession(err):
		return err
	}

	anybody, err := storage.Query(v.r.Context(), v.DB, (*storage.Rx).AnybodyCanSignIn)
	if err != nil {
		return err
	}
	return v.showSignInForm(http.StatusOK, signInForm{Next: next, IsFirst: !anybody})
}

// showSignInForm shows the form. In a sandbox it has a button for the visitor of this
// machine, wherever that comes from: pressing it counts.
func (v *visit) showSignInForm(status int, form signInForm) error {
	if v.SandboxUser != nil && v.IsLocal(v.r) {
		if who, err := v.sandboxUser(); err == nil {
			form.ContinueAs = who.User.Name
		}
	}
	if v.Provider != nil {
		form.Provider, form.Only = v.Provider.Name, v.Provider.Only
	}
	form.Passkeys = v.passkeyForm(form.Next)
	return v.writePage(status, page{Title: v.say("Sign in"), SignIn: &form})
}

// readForm reads the form that was posted. It answers itself, and returns false, if it
// cannot be read; the error is for a fault that is not the visitor's.
func (v *visit) readForm() (ok bool, err error) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	switch err := v.r.ParseForm(); {
	case errors.Is(err, limit.ErrExhausted):
		return false, err
	case err != nil:
		return false, v.showError(http.StatusBadRequest, "Couldn’t read the form", "Go back and try again.")
	}
	return true, nil
}

// signIn handles POST sign-in.
func (v *visit) signIn() error {
	if ok, err := v.readForm(); !ok {
		return err
	}
	if v.r.PostForm.Has("continue") {
		return v.continueAsUser()
	}

	form := signInForm{Email: v.r.PostForm.Get("email"), Next: v.r.PostForm.Get("next")}
	if v.Provider.IsOnly() {
		form.Problem = v.say("Passwords are off. Sign in with %s.", v.Provider.Name)
		return v.showSignInForm(http.StatusForbidden, form)
	}
	u, err := v.checkPassword(form.Email, v.r.PostForm.Get("password"))
	if err == nil && u.HasFactor() {
		return v.askSecondFactor(u, form.Next)
	}
	if err == nil {
		// It may have changed since, and a factor may have become needed.
		err = v.startSession(u, func(_ *storage.Tx, now storage.User) error {
			if storage.OrEmpty(now.PasswordHash) != storage.OrEmpty(u.PasswordHash) || now.HasFactor() {
				return errWrong
			}
			return nil
		})
	}

	if err != nil {
		return v.refuseSignIn(form, err)
	}
	return v.redirect(http.StatusSeeOther, nextPage(form.Next))
}

// refuseSignIn shows the form of signing in with the reason.
func (v *visit) refuseSignIn(form signInForm, err error) error {
	status, problem := v.explainRefusal(err)
	if problem == "" {
		return err
	}
	form.Problem = problem
	return v.showSignInForm(status, form)
}

// explainRefusal is how to answer somebody who was not signed in; no problem is for an error
// that is not the person's. Those who try too often are held up first.
func (v *visit) explainRefusal(err error) (status int, problem string) {
	tooMany, isTooMany := errors.AsType[*tooManyTriesError](err)
	switch {
	case isTooMany:
		v.holdUp()
		seconds := strconv.Itoa(int((tooMany.wait + time.Second - 1) / time.Second))
		v.w.Header().Set("Retry-After", seconds)
		return http.StatusTooManyRequests, v.say("Too many attempts. Wait %s seconds, then try again.", seconds)
	case errors.Is(err, password.ErrBusy):
		v.w.Header().Set("Retry-After", "5")
		return http.StatusServiceUnavailable, v.say("Too many people are signing in right now. Try again in a moment.")
	case errors.Is(err, errWrong):
		return http.StatusUnauthorized, v.say("Wrong email or password.")
	case errors.Is(err, errWrongCode):
		return http.StatusUnauthorized, v.say("Wrong code. Each code works once: use the next one your app shows.")
	case errors.Is(err, factor.ErrPasskey):
		return http.StatusUnauthorized, v.say("This passkey didn’t work. It may have been removed here. Sign in another way.")
	}
	return 0, ""
}

// holdUp lets somebody wait who tries too often. Programs ask again as soon as they are
// answered, and would take the cores from those who are known. Only a few wait, because what
// they have sent counts meanwhile; others are answered at once.
func (v *visit) holdUp() {
	select {
	case v.heldUp <- struct{}{}:
	default:
		return
	}
	defer func() { <-v.heldUp }()

	select {
	case <-time.After(holdUpTime):
	case <-v.r.Context().Done():
	}
}

// checkPassword finds the user whose address and password these are. The errors are
// errWrong, tooManyTriesError and those of hashing.
//
// An address that no user has takes the same way, and the same work. Those who wait are
// refused before they cost anything, and checked once more before hashing: of many tries
// at once, only the first ones are free.
func (v *visit) checkPassword(email, given string) (storage.User, error) {
	network := v.network()
	if err := v.checkWait(network); err != nil {
		return storage.User{}, err
	}
	u, err := storage.Query(v.r.Context(), v.DB, func(rx *storage.Rx) (storage.User, error) { return rx.UserBySignIn(email) })
	if storage.IgnoreNotFound(err) != nil {
		return u, err
	}

	hash := u.PasswordHash
	if u.DisabledAt != 0 {
		hash = nil
	}

	account := storage.TokenHash(storage.Fold(email))
	keys := tryKeys{network: network, account: "account " + string(account[:])}
	keys.both = keys.network + " " + keys.account
	keys.knownDevice = u.ID != "" && v.knownDevice(v.cookie(v.r, deviceCookie), u.ID) != ""

	if err := v.checkTries(keys); err != nil {
		return u, err
	}
	who := limit.Stranger(v.API.ClientIP(v.r))
	if keys.knownDevice {
		who = knownUser(u.ID)
	}
	same, err := v.API.Passwords.Matches(v.r.Context(), who, given, hash, func() error { return v.checkTries(keys) })
	if err != nil {
		return u, err
	}
	if !same {
		for _, key := range []string{keys.network, keys.account, keys.both} {
			v.API.PasswordTries.Fail(key)
		}
		v.recordFailure(u)
		return u, errWrong
	}

	v.API.PasswordTries.Clear(keys.account)
	v.API.PasswordTries.Clear(keys.both)
	return u, nil
}

// knownUser is somebody who is about to sign in and no stranger: it has a link, or a browser
// that has signed in before. It does not wait for the colleagues who change their passwords.
func knownUser(id string) limit.Holder { return limit.Holder{Known: true, Group: "user " + id} }

// tryKeys are what the failures of a try count for. Those of an account, which anybody can
// make, do not count for a browser that has signed in before, nor for the first try of a
// network that has not failed there itself: someone who polls with wrong passwords must not keep
// the person out that knows the right one.
type tryKeys struct {
	network, account, both string
	knownDevice            bool
}

// checkTries returns an error if the next try has to wait.
func (v *visit) checkTries(keys tryKeys) error {
	if keys.knownDevice || !v.API.PasswordTries.HasFailed(keys.both) {
		return v.checkWait(keys.network)
	}
	return v.checkWait(keys.network, keys.account)
}

// checkWait returns an error if one of the keys has to wait before its next try.
func (v *visit) checkWait(keys ...string) error {
	var wait time.Duration
	for _, key := range keys {
		wait = max(wait, v.API.PasswordTries.Wait(key))
	}
	if wait > 0 {
		return &tooManyTriesError{wait}
	}
	return nil
}

// network is what the failures of the visitor's network count for.
func (v *visit) network() string { return "network " + v.API.ClientNetwork(v.r) }

// recordFailure records a failed sign-in of somebody who exists, at most once a minute
// for an address and an account. The answer does not wait for it: how long it takes would show
// whether there is a user.
func (v *visit) recordFailure(u storage.User) {
	if u.ID == "" || !v.failed.Allow(v.API.ClientNetwork(v.r)+" "+u.ID) {
		return
	}

	by := v.actor(u)
	go func() {
		err := v.DB.Update(context.Background(), func(tx *storage.Tx) error {
			return tx.Audit(u.OrganizationID, by, "user.sign_in_failed", "user", u.ID)
		})
		if err != nil {
			v.Log.Warn("could not record a failed sign-in", "user", u.ID, "error", err)
		}
	}()
}

// startSession signs a user in and sets the cookies. Rows read before may have changed
// meanwhile: check, if there is one, looks at the user in the transaction of the new session.
func (v *visit) startSession(u storage.User, check func(tx *storage.Tx, now storage.User) error) error {
	return v.startSessionOf(func(tx *storage.Tx) (storage.User, error) {
		now, err := tx.UserByID(u.ID)
		switch {
		case err != nil:
			return now, err
		case now.DisabledAt != 0:
			return now, errWrong
		case check != nil:
			return now, check(tx, now)
		}
		return now, nil
	})
}

// startSessionOf signs in the user whom find finds in the transaction of the new session, and
// sets the cookies.
func (v *visit) startSessionOf(find func(*storage.Tx) (storage.User, error)) error {
	before, err := v.findSession(v.r)
	if err != nil && !isNoSession(err) {
		return err
	}

	var u storage.User
	var token string
	err = v.DB.Update(v.r.Context(), func(tx *storage.Tx) (err error) {
		if u, err = find(tx); err != nil {
			return err
		}
		token, err = v.insertSession(tx, u, before)
		return err
	})
	if err != nil {
		return err
	}

	v.setSessionCookies(u, token)
	return nil
}
