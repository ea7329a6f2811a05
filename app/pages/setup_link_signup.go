package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"confab/app/limit"
	"confab/jobs/provider"
	"confab/storage"
)

const (
	maxName = 200
	// signupTimeout limits the calls to the provider that a signup needs. They go
	// on when the visitor leaves, because a code works only once.
	signupTimeout = 30 * time.Second
	// exchangePause is between two tries to exchange a code, which lives 30 s.
	exchangePause = 500 * time.Millisecond
	exchangeTries = 3

	pollPause = 50 * time.Millisecond
)

// formFields are the fields of the sandbox's form as entered, and their errors.
type formFields struct {
	Name, Phone               string
	NameProblem, PhoneProblem string
}

// servePost takes the form of a signup that is finished or was cancelled.
func (v *visit) servePost() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	err := v.r.ParseForm()
	if errors.Is(err, limit.ErrExhausted) {
		return err
	}
	if err != nil {
		return v.writePage(http.StatusBadRequest, errorPage("Couldn’t read the form", "Open the link again and use the form there."))
	}

	reason := v.invitation.Unusable(v.DB.Now())
	switch action := v.r.PostForm.Get("action"); {
	case reason != "":
		return v.showFailed(http.StatusGone, reason)
	case action != "connect" && action != "cancel":
		return v.showForm(http.StatusBadRequest, formFields{})
	case v.invitation.Working:
		return v.awaitOutcome() // the button was pressed twice, or it is too late to cancel
	case action == "cancel":
		return v.showFailed(http.StatusOK, storage.ReasonCancelled)
	}

	s, entered := v.readSignup()
	if entered.NameProblem != "" || entered.PhoneProblem != "" {
		return v.showForm(http.StatusUnprocessableEntity, entered)
	}

	// The visitor may leave now: the code works only once, so what it brings must
	// not be lost.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), signupTimeout)
	defer cancel()
	err = v.beginOnboarding(ctx, s)
	if failed, ok := errors.AsType[*signupError](err); ok {
		v.Log.Warn("a signup failed", "setup_link", v.invitation.ID, "reason", failed.reason, "error", failed.cause)
		return v.showFailed(http.StatusOK, failed.reason)
	}
	if err != nil {
		return err
	}
	return v.awaitOutcome()
}

// readSignup returns what the signup has returned: the values of the provider's own in
// the form, or those of a sandbox's. In a sandbox the fields may be wrong.
func (v *visit) readSignup() (Signup, formFields) {
	form := v.r.PostForm
	if v.SimulateSignup == nil {
		return Signup{Code: form.Get("code"), WABAID: form.Get("waba_id"), PhoneNumberID: form.Get("phone_number_id")}, formFields{}
	}

	entered := formFields{Name: strings.TrimSpace(form.Get("name")), Phone: strings.TrimSpace(form.Get("phone_number"))}
	phone, ok := parsePhone(entered.Phone)
	switch {
	case utf8.RuneCountInString(entered.Name) > maxName || !utf8.ValidString(entered.Name):
		entered.NameProblem = v.say("Use at most %d characters.", maxName)
	case !ok:
		entered.PhoneProblem = v.say("Enter the number with its country code, such as %s, or leave it empty.", "+1 555 010 0200")
	}

	if entered.NameProblem != "" || entered.PhoneProblem != "" {
		return Signup{}, entered
	}

	s, err := v.SimulateSignup(cmp.Or(entered.Name, v.invitation.CustomerName), phone)
	if err != nil {
		entered.PhoneProblem = v.say("The provider doesn’t accept this number.")
	}
	return s, entered
}

// punctuation is what people write between the digits of a number.
var punctuation = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "")

// parsePhone reads a number as people write it. An empty one is valid.
func parsePhone(text string) (string, bool) {
	phone := punctuation.Replace(text)
	if phone == "" {
		return "", true
	}
	_, ok := provider.ParsePhone(phone)
	return phone, ok
}

// signupError is why a signup did not connect a number: the reason that the visitor is
// shown, and the cause for the log.
type signupError struct {
	reason string
	cause  error
}

func (e *signupError) Error() string { return e.reason + ": " + e.cause.Error() }
func (e *signupError) Unwrap() error { return e.cause }

// beginOnboarding exchanges the code for a token, finds the number that the token is
// for, and stores the account with the job that connects it.
func (v *visit) beginOnboarding(ctx context.Context, s Signup) error {
	token, err := v.exchangeCode(ctx, s.Code)
	if err != nil {
		return &signupError{storage.ReasonTokenExchange, err}
	}

	a, err := v.findNumber(ctx, token, s)
	if err != nil {
		return err
	}

	return v.DB.Update(ctx, func(tx *storage.Tx) error {
		i, err := tx.Invitation(v.token)
		if err != nil {
			return err
		}

		if reason := i.Unusable(tx.Now); reason != "" {
			return &signupError{reason, errors.New("the link cannot be used")}
		}

		if i.Working {
			v.invitation = i // the button was pressed twice, and the other request won
			return nil
		}

		account := a // the closure may run twice
		err = tx.BeginOnboarding(&i, &account, token.Reveal())
		if errors.Is(err, storage.ErrConflict) {
			return &signupError{storage.ReasonProvider, err}
		}
		v.invitation = i
		return err
	})
}

// exchangeCode exchanges the code for a token. It tries again only if the provider
// certainly has not used the code: an exchange with an unknown outcome is final.
func (v *visit) exchangeCode(ctx context.Context, code string) (provider.Token, error) {
	if code == "" {
		return provider.Token{}, errors.New("the signup brought no code")
	}

	for try := 1; ; try++ {
		token, err := v.Provider.ExchangeCode(ctx, code)
		if err == nil {
			return token, nil
		}

		if !provider.IsTransient(err) || provider.OutcomeOf(err) == provider.Unknown || try == exchangeTries {
			return provider.Token{}, err
		}

		select {
		case <-time.After(exchangePause):
		case <-ctx.Done():
			return provider.Token{}, err
		}
	}
}

// findNumber finds the number that was signed up. The ids come from the browser and are
// not trusted: the number must be among those that the token can read.
func (v *visit) findNumber(ctx context.Context, token provider.Token, s Signup) (a storage.Account, err error) {
	refuse := func(reason string, err error) (storage.Account, error) { return a, &signupError{reason, err} }

	if s.WABAID == "" {
		granted, err := v.Provider.TokenTargets(ctx, token, "whatsapp_business_management")
		if err != nil || len(granted) != 1 {
			return refuse(storage.ReasonProvider, errors.Join(err, fmt.Errorf("the token is for %d business accounts", len(granted))))
		}
		s.WABAID = granted[0]
	}

	if !provider.PhoneNumberID.MatchString(s.WABAID) || s.PhoneNumberID != "" && !provider.PhoneNumberID.MatchString(s.PhoneNumberID) {
		return refuse(storage.ReasonProvider, errors.New("the ids are none of the provider's"))
	}

	numbers, err := v.Provider.Numbers(ctx, token, s.WABAID)
	if err != nil {
		return refuse(storage.ReasonProvider, err)
	}
	if len(numbers) == 0 {
		return refuse(storage.ReasonVerification, errors.New("the business account has no number"))
	}

	for _, n := range numbers {
		if id := string(n.ID); id == s.PhoneNumberID || s.PhoneNumberID == "" && len(numbers) == 1 {
			a = storage.Account{PhoneNumberID: &id, WABAID: &s.WABAID, ProviderStatus: &n.Status}
			if n.VerifiedName != "" {
				a.Name = &n.VerifiedName
			}
			return a, nil
		}
	}

	return refuse(storage.ReasonProvider, fmt.Errorf("the business account has %d numbers and not the one named", len(numbers)))
}

// awaitOutcome waits for the job that connects the number and shows its outcome. After
// signupWait it redirects to a page that reloads instead.
func (v *visit) awaitOutcome() error {
	timeout := time.NewTimer(v.signupWait)
	defer timeout.Stop()

	for v.invitation.Working {
		select {
		case <-time.After(pollPause):
		case <-timeout.C:
			return v.redirect(OnboardPath + v.token + "/progress?account=" + *v.invitation.Account)
		case <-v.r.Context().Done():
			return nil // the visitor has left
		}

		if err := v.loadInvitation(v.r.Context()); err != nil {
			return err
		}
	}

	return v.showOutcome()
}

func (v *visit) showOutcome() error {
	i := v.invitation
	switch {
	case i.Status == storage.LinkConsumed:
		return v.showSuccess()
	case i.Working:
		return v.showWorking()
	case i.FailureReason != nil:
		return v.showFailed(http.StatusOK, *i.FailureReason)
	}
	return v.showFailed(http.StatusOK, storage.ReasonProvider) // the account was removed meanwhile
}
