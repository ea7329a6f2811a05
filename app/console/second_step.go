package console

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"confab/app/factor"
	"confab/app/ticket"
	"confab/storage"
)

// The second step of signing in. Somebody who has a second factor and gave the right password
// gets a ticket, in a cookie of this browser alone, and goes on to sign-in/second. A right
// code there, or a passkey, starts the session, in the transaction that uses the code up.
//
// Failures make wait as those of passwords do, but are counted for the account apart: only those
// who know the password get here, so strangers cannot keep the person out, and a right
// password must not make up for wrong codes. A browser that has signed in before has a count
// of its own: it need not wait for others, but a stolen one has no more tries than they have.

const (
	secondStepPurpose = "second step"
	// secondStepLife is how long the second step may take.
	secondStepLife = 5 * time.Minute
)

// errWrongCode means that a code is none that can be used now.
var errWrongCode = errors.New("the code is wrong")

// secondStep is what the ticket says.
type secondStep struct {
	User     string   `json:"user"`
	Password [32]byte `json:"password"` // a hash of its hash: a new password ends the ticket
	Next     string   `json:"next"`
}

// secondForm is what the page of the second step shows.
type secondForm struct {
	Problem  string
	HasCodes bool // or else it has only passkeys
	Passkeys *passkeyForm
}

// askSecondFactor leads somebody who gave the right password to the second step.
func (v *visit) askSecondFactor(u storage.User, next string) error {
	step := secondStep{User: u.ID, Password: hashOfPassword(u), Next: nextPage(next)}
	text, err := ticket.Seal(v.DB, secondStepPurpose, secondStepLife, step)
	if err != nil {
		return err
	}
	v.setCookie(secondCookie, text, secondStepLife)
	return v.redirect(http.StatusSeeOther, "sign-in/second")
}

func hashOfPassword(u storage.User) [32]byte {
	return sha256.Sum256([]byte(storage.OrEmpty(u.PasswordHash)))
}

// findSecondStep reads the browser's ticket, and finds the user of it.
func (v *visit) findSecondStep() (step secondStep, u storage.User, ok bool, err error) {
	if v.Provider.IsOnly() || !ticket.Open(v.DB, secondStepPurpose, v.cookie(v.r, secondCookie), &step) {
		return step, u, false, nil
	}
	u, err = storage.Query(v.r.Context(), v.DB, func(rx *storage.Rx) (storage.User, error) { return rx.UserByID(step.User) })
	v.speakTo(u)
	ok = err == nil && u.DisabledAt == 0 && hashOfPassword(u) == step.Password
	return step, u, ok, storage.IgnoreNotFound(err)
}

// showSecondStep handles GET sign-in/second.
func (v *visit) showSecondStep() error {
	step, u, ok, err := v.findSecondStep()
	switch {
	case err != nil:
		return err
	case !ok:
		return v.redirect(http.StatusFound, "sign-in")
	}
	return v.showSecondForm(http.StatusOK, u, step, "")
}

func (v *visit) showSecondForm(status int, u storage.User, step secondStep, problem string) error {
	form := &secondForm{Problem: problem, HasCodes: u.HasCodes}
	if u.HasPasskey {
		form.Passkeys = v.passkeyForm(step.Next)
	}
	return v.writePage(status, page{Title: v.say("Second factor"), Second: form})
}

// takeSecondStep handles POST sign-in/second.
func (v *visit) takeSecondStep() error {
	if ok, err := v.readForm(); !ok {
		return err
	}
	step, u, ok, err := v.findSecondStep()
	switch {
	case err != nil:
		return err
	case !ok:
		return v.showSignInForm(http.StatusUnauthorized, signInForm{Problem: v.say("Your sign-in took too long. Start again.")})
	}

	code := v.r.PostForm.Get("code")
	err = v.startSession(u, func(tx *storage.Tx, now storage.User) error {
		if hashOfPassword(now) != step.Password {
			return errWrong
		}
		return v.tryFactor(u, func() error { return v.useCode(tx, now, code) })
	})

	switch {
	case err == nil:
		v.setCookie(secondCookie, "", 0)
		return v.redirect(http.StatusSeeOther, step.Next)
	case errors.Is(err, errWrong):
		return v.showSignInForm(http.StatusUnauthorized, signInForm{Problem: v.say("Something changed meanwhile. Sign in again.")})
	case errors.Is(err, errWrongCode):
		v.recordFailure(u)
	}
	status, problem := v.explainRefusal(err)
	if problem == "" {
		return err
	}
	return v.showSecondForm(status, u, step, problem)
}

// tryFactor lets use check a factor of a user, unless there were too many failures. It is called
// in the transaction, where no other try comes between: of many at once, only the first ones
// are free.
func (v *visit) tryFactor(u storage.User, use func() error) error {
	account := "second step " + u.ID
	own := account + v.knownDevice(v.cookie(v.r, deviceCookie), u.ID)
	if err := v.checkWait(v.network(), own); err != nil {
		return err
	}

	err := use()
	switch {
	case err == nil:
		v.API.PasswordTries.Clear(account)
		v.API.PasswordTries.Clear(own)
	case errors.Is(err, errWrongCode):
		v.API.PasswordTries.Fail(v.network())
		v.API.PasswordTries.Fail(own)
	}
	return err
}

// useCode uses up a one-time code or a recovery code of a user.
func (v *visit) useCode(tx *storage.Tx, u storage.User, typed string) error {
	if recovery := factor.PlainRecoveryCode(typed); recovery != "" {
		err := tx.UseRecoveryCode(u.ID, recovery)
		if errors.Is(err, storage.ErrNotFound) {
			return errWrongCode
		}
		if err != nil {
			return err
		}
		return tx.Audit(u.OrganizationID, v.actor(u), "user.recovery_code_used", "user", u.ID)
	}

	codes, err := tx.UserCodes(u.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return errWrongCode
	}
	if err != nil {
		return err
	}
	secret, err := tx.CodeSecret(codes)
	if err != nil {
		return err
	}

	step, ok := factor.AcceptedStep(secret, typed, time.Now(), codes.LastStep) // of phones, which nobody moves with a sandbox
	if !ok {
		return errWrongCode
	}
	return tx.UseCodeStep(u.ID, step)
}
