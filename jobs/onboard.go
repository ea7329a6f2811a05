package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// onboardRetries are the pauses after a failure of the provider that passes.
// Somebody is looking at the page: they are short, and soon over.
var onboardRetries = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// onboard connects a number that was signed up: it subscribes to its callbacks,
// registers it, and ends the setup link. Each step can be done again, so that a
// crash between any two costs nothing but time.
func (w *Workers) onboard(ctx context.Context, job storage.Job) (queue.Commit, error) {
	var args storage.OnboardArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}

	if !w.Accounts.beginRegistering(args.Account) {
		return nil, queue.Postpone(onboardRetries[0]) // through the API
	}
	defer w.Accounts.endRegistering(args.Account)

	c, err := w.Accounts.credentials(ctx, args.Account)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil // removed meanwhile
	}

	var number provider.Number
	if err == nil {
		number, err = w.subscribeAndRegister(ctx, c)
	}
	if err != nil {
		return w.onboardFailed(job, args, err)
	}

	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil // the provider's word on the call itself
	return func(tx *storage.Tx) error { return connectSignup(tx, args, c.AccountDetail, number.DisplayPhoneNumber) }, nil
}

// signUp makes the calls, and returns the number as it is then. A number that is
// used in the phone app too, or is connected already, is not registered.
func (w *Workers) subscribeAndRegister(ctx context.Context, c credentials) (n provider.Number, err error) {
	if err := w.Provider.Subscribe(ctx, c.token, *c.WABAID); err != nil {
		return n, err
	}

	if n, err = w.Provider.Number(ctx, c.token, *c.PhoneNumberID); err != nil || n.Coexists() || n.Status == numberConnected {
		return n, err
	}

	var pin string
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		pin, err = rx.PIN(c.Account)
		return err
	})
	if err != nil {
		return n, err
	}

	err = registerNumber(ctx, w.Provider, c.token, *c.PhoneNumberID, pin, &n)
	return n, err
}

// notOnboarded tries again what may pass, and otherwise ends the signup.
func (w *Workers) onboardFailed(job storage.Job, args storage.OnboardArgs, failed error) (queue.Commit, error) {
	_, answered := errors.AsType[*provider.Error](failed)
	if (provider.Transient(failed) || !answered && !errors.Is(failed, ErrToken)) && job.Attempt() <= len(onboardRetries) {
		return nil, queue.RetryAfter(onboardRetries[job.Attempt()-1], failed)
	}

	w.Log.Warn("a number could not be connected", "setup_link", args.Link, "account", args.Account, "error", failed)
	reason := storage.ReasonProvider
	if provider.Code(failed) == registrationFailed {
		reason = storage.ReasonVerification
	}

	return func(tx *storage.Tx) error { return failSignup(tx, args, reason, failureOf(failed).text) }, nil
}

// registrationFailed is the code of what the provider has against a registration.
const registrationFailed = "whatsapp_registration_failed"

// giveUpOnboard ends the signup of a job that failed for reasons of our own.
func giveUpOnboard(job storage.Job, failed error) queue.Commit {
	return func(tx *storage.Tx) error {
		var args storage.OnboardArgs
		if json.Unmarshal(job.Args, &args) != nil {
			return nil // names no link
		}
		return failSignup(tx, args, storage.ReasonProvider, failed.Error())
	}
}

// failSignup records why a signup came to nothing. A number that was there before
// is again what it was. One that only its registration stands in the way of
// stays, so that it can be registered with its own PIN; any other that this
// signup brought goes again.
func failSignup(tx *storage.Tx, args storage.OnboardArgs, reason, text string) error {

	if err := tx.FailOnboarding(args.Link, reason); err != nil {
		return ignoreMissing(err)
	}

	a, err := tx.AccountDetail(args.Account)
	switch {
	case err != nil:
		return ignoreMissing(err)
	case a.Status != storage.AccountOnboarding:
		return nil // somebody else has told of it meanwhile
	case reason == storage.ReasonVerification && (args.Before == nil || args.Before.Status == a.Status):
		return tx.MarkAccount(a.ID, a.Status, text)
	case args.Before != nil:
		return tx.MarkAccount(a.ID, args.Before.Status, args.Before.Reason)
	}

	if err := tx.RemoveAccount(a.ID, text); err != nil {
		return err
	}
	return EnqueuePurge(tx, a.Account)
}

// connectSignup writes the end of a signup, unless its link was revoked or its
// customer archived meanwhile.
func connectSignup(tx *storage.Tx, args storage.OnboardArgs, a storage.AccountDetail, display string) error {
	i, err := tx.LinkInvitation(args.Link)
	if err != nil {
		return err
	}

	switch reason := i.Unusable(tx.Now); reason {
	case "", storage.ReasonLinkExpired: // it was used in time
	default:
		return failSignup(tx, args, reason, "The setup link could not be used any more.")
	}

	if err := tx.UpdateAccount(&a); err != nil {
		return err
	}
	if err := EnqueueAccountCheck(tx, a.ID); err != nil { // which reads its templates
		return err
	}

	return completeSignup(tx, i, a.Account, display)
}

// welcomeLate ends the signup of a number that was connected in the end by other
// means: registered through the API, or found to be well. A link that expired or
// was revoked meanwhile stays what it is, and so does its customer: nothing is
// told of the one without the other.
func completeLateSignup(tx *storage.Tx, a storage.Account, display string) error {
	i, err := tx.UsedInvitation(a.ID)
	if err != nil || i.Working || i.CustomerStatus == storage.CustomerArchived {
		return ignoreMissing(err)
	}
	return completeSignup(tx, i, a, display)
}

// welcome ends the link, and tells that the customer has a number of its own.
func completeSignup(tx *storage.Tx, i storage.Invitation, a storage.Account, display string) error {
	if err := tx.ConsumeSetupLink(&i.SetupLink); err != nil {
		return err
	}

	c, err := tx.Customer(i.OrganizationID, i.CustomerID)
	if err != nil {
		return err
	}

	if err := event.SetupLinkConsumed(c, i.SetupLink, a).Emit(tx); err != nil {
		return err
	}
	return event.CustomerOnboarded(c, a, display).Emit(tx)
}
