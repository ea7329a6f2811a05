package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"confab/jobs/provider"
	"confab/storage"
)

const (
	maxName = 200
	// signupTime is what it may take to find out what the provider's signup has
	// brought. It goes on when the visitor leaves: a code works once.
	signupTime = 30 * time.Second
	// exchangePause is between two tries to exchange a code, which lives 30 s.
	exchangePause = 500 * time.Millisecond
	exchangeTries = 3

	pollPause = 50 * time.Millisecond
)

// fields are the form as it was filled in, and what is wrong with it.
type fields struct {
	Name, Phone               string
	NameProblem, PhoneProblem string
}

// post takes the form: a signup that is finished, or was cancelled.
func (v *visit) post() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		v.show(http.StatusBadRequest, plainPage("The form could not be read", "Open the link again, and use the form there."))
		return nil
	}
	reason := v.invitation.Unusable(storage.Now())
	switch action := v.r.PostForm.Get("action"); {
	case reason != "":
		return v.refuse(reason)
	case action != "connect" && action != "cancel":
		return v.form(http.StatusBadRequest, fields{})
	case v.invitation.Working:
		return v.awaitSettled() // pressed twice, or too late to cancel
	case action == "cancel":
		return v.fail(storage.ReasonCancelled)
	}
	s, asked := v.signup()
	if asked.NameProblem != "" || asked.PhoneProblem != "" {
		return v.form(http.StatusUnprocessableEntity, asked)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), signupTime)
	defer cancel()
	if err := v.begin(ctx, s); err != nil {
		return v.notBegun(err)
	}
	return v.awaitSettled()
}

// signup is what the signup has brought: the provider's own in the form, or one
// that is played here.
func (v *visit) signup() (Signup, fields) {
	form := v.r.PostForm
	if v.Play == nil {
		return Signup{Code: form.Get("code"), WABAID: form.Get("waba_id"), PhoneNumberID: form.Get("phone_number_id")}, fields{}
	}
	asked := fields{Name: strings.TrimSpace(form.Get("name")), Phone: strings.TrimSpace(form.Get("phone_number"))}
	phone, ok := phoneOf(asked.Phone)
	switch {
	case utf8.RuneCountInString(asked.Name) > maxName || !utf8.ValidString(asked.Name):
		asked.NameProblem = fmt.Sprintf("Use at most %d characters.", maxName)
	case !ok:
		asked.PhoneProblem = "Enter the number with its country code, such as +1 555 010 0200, or leave it empty."
	}
	if asked.NameProblem != "" || asked.PhoneProblem != "" {
		return Signup{}, asked
	}
	name := asked.Name
	if name == "" {
		name = v.invitation.CustomerName
	}
	s, err := v.Play(name, phone)
	if err != nil {
		asked.PhoneProblem = "The provider does not take this number."
	}
	return s, asked
}

// punctuation is what people write between the digits of a number.
var (
	punctuation = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "")
	phoneDigits = regexp.MustCompile(`^\+?[1-9][0-9]{6,14}$`)
	providerID  = regexp.MustCompile(`^[0-9]{1,32}$`)
)

// phoneOf reads a number as people write it; an empty one is fine.
func phoneOf(text string) (string, bool) {
	phone := punctuation.Replace(text)
	return phone, phone == "" || phoneDigits.MatchString(phone)
}

// notConnected is a signup that came to nothing, and why.
type notConnected struct {
	reason string
	cause  error
}

func (e *notConnected) Error() string { return e.reason + ": " + e.cause.Error() }
func (e *notConnected) Unwrap() error { return e.cause }

// notBegun answers a signup that came to nothing at once.
func (v *visit) notBegun(err error) error {
	e, ok := errors.AsType[*notConnected](err)
	if !ok {
		return err
	}
	v.Log.Warn("a signup came to nothing", "setup_link", v.invitation.ID, "reason", e.reason, "error", e.cause)
	return v.fail(e.reason)
}

// begin exchanges the code, verifies with the token that it brings what the
// browser says, and stores the account with the job that connects it.
func (v *visit) begin(ctx context.Context, s Signup) error {
	token, err := v.exchange(ctx, s.Code)
	if err != nil {
		return &notConnected{storage.ReasonTokenExchange, err}
	}
	a, err := v.verify(ctx, token, s)
	if err != nil {
		return err
	}
	return v.DB.Update(ctx, func(tx *storage.Tx) error {
		i, err := tx.Invitation(v.token)
		if err != nil {
			return err
		}
		if reason := i.Unusable(tx.Now); reason != "" {
			return &notConnected{reason, errors.New("the link cannot be used")}
		}
		if i.Working {
			v.invitation = i // the button was pressed twice, and this press lost
			return nil
		}
		account := a // the closure may run twice
		err = tx.BeginOnboarding(&i, &account, token.Reveal())
		if errors.Is(err, storage.ErrConflict) {
			return &notConnected{storage.ReasonProvider, err}
		}
		v.invitation = i
		return err
	})
}

// exchange trades the code for a token. What did not reach the provider, or was
// turned away for now, is tried again while the code lives.
func (v *visit) exchange(ctx context.Context, code string) (provider.Token, error) {
	if code == "" {
		return provider.Token{}, errors.New("the signup brought no code")
	}
	for try := 1; ; try++ {
		grant, err := v.Provider.ExchangeCode(ctx, code, "")
		if err == nil {
			return grant.Token, nil
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

// verify finds the number that was signed up, as the token shows it. What the
// browser says of it is only believed where the token bears it out.
func (v *visit) verify(ctx context.Context, token provider.Token, s Signup) (a storage.Account, err error) {
	refuse := func(reason string, err error) (storage.Account, error) { return a, &notConnected{reason, err} }
	if s.WABAID == "" {
		info, err := v.Provider.DebugToken(ctx, token)
		granted := info.Targets("whatsapp_business_management")
		if err != nil || len(granted) != 1 {
			return refuse(storage.ReasonProvider, errors.Join(err, fmt.Errorf("the token is for %d business accounts", len(granted))))
		}
		s.WABAID = granted[0]
	}
	if !providerID.MatchString(s.WABAID) || s.PhoneNumberID != "" && !providerID.MatchString(s.PhoneNumberID) {
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

// awaitSettled waits for the job that connects the number, for as long as a
// person waits, and answers with what came of it.
func (v *visit) awaitSettled() error {
	timeout := time.NewTimer(v.patience)
	defer timeout.Stop()
	for v.invitation.Working {
		select {
		case <-time.After(pollPause):
		case <-timeout.C:
			v.redirect(OnboardPath + v.token + "/progress?account=" + *v.invitation.Account)
			return nil
		case <-v.r.Context().Done():
			return nil // nobody is waiting
		}
		if err := v.read(v.r.Context()); err != nil {
			return err
		}
	}
	return v.settled()
}

// settled answers with what has come of the signup.
func (v *visit) settled() error {
	i := v.invitation
	switch {
	case i.Status == storage.LinkConsumed:
		return v.succeed()
	case i.Working:
		return v.working()
	case i.FailureReason != nil:
		return v.fail(*i.FailureReason)
	}
	return v.fail(storage.ReasonProvider) // the account was removed meanwhile
}
