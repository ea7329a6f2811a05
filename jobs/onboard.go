package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// onboardRetries are the pauses after transient errors. They are short and few,
// because somebody waits in front of the page.
var onboardRetries = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// onboard connects the number of a signup: it subscribes to its callbacks,
// registers it, and marks the setup link as consumed. Each step can be repeated, so
// that a run after a crash simply begins again.
func (w *Workers) onboard(ctx context.Context, job storage.Job) (queue.Commit, error) {
	var args storage.OnboardArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}

	if !w.Accounts.beginRegistering(args.Account) {
		return nil, queue.Postpone(onboardRetries[0]) // a request is registering it
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

	// The calls succeeded, so it is connected, even if its status still lags behind.
	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil
	return func(tx *storage.Tx) error { return connectSignup(tx, args, c.AccountDetail, number.DisplayPhoneNumber) }, nil
}

// subscribeAndRegister makes the calls of a signup and returns the number's state
// after them. A number that is also used in the phone app, or that is connected
// already, is not registered.
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

// onboardFailed tries a signup again after errors that may pass, and otherwise
// records that it failed.
func (w *Workers) onboardFailed(job storage.Job, args storage.OnboardArgs, failed error) (queue.Commit, error) {
	_, ofProvider := errors.AsType[*provider.Error](failed)
	mayPass := provider.Transient(failed) || !ofProvider && !errors.Is(failed, ErrToken)
	if mayPass && job.Attempt() <= len(onboardRetries) {
		return nil, queue.RetryAfter(onboardRetries[job.Attempt()-1], failed)
	}

	w.Log.Warn("a number could not be connected", "setup_link", args.Link, "account", args.Account, "error", failed)
	reason := storage.ReasonProvider
	if provider.Code(failed) == errorcode.RegistrationFailed {
		reason = storage.ReasonVerification
	}
	return func(tx *storage.Tx) error { return failSignup(tx, args, reason, messaging.FailureOf(failed).Text) }, nil
}

// giveUpOnboard ends the signup of a job that failed because of our own errors.
func giveUpOnboard(job storage.Job, failed error) queue.Commit {
	return func(tx *storage.Tx) error {
		var args storage.OnboardArgs
		if json.Unmarshal(job.Args, &args) != nil {
			return nil // names no link
		}
		return failSignup(tx, args, storage.ReasonProvider, failed.Error())
	}
}

// failSignup records why a signup failed. An account that existed before the
// signup gets its earlier status back. A new one stays if only its registration
// failed, so that it can be registered with its PIN; otherwise it is removed.
func failSignup(tx *storage.Tx, args storage.OnboardArgs, reason, text string) error {
	if err := tx.FailOnboarding(args.Link, reason); err != nil {
		return storage.IgnoreNotFound(err)
	}

	a, err := tx.AccountDetail(args.Account)
	switch {
	case err != nil:
		return storage.IgnoreNotFound(err)
	case a.Status != storage.AccountOnboarding:
		return nil // something else has changed it meanwhile
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

// connectSignup stores the account of a successful signup and completes it. If its
// link was revoked or its customer archived meanwhile, the signup fails.
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

// completeLateSignup completes the signup of a number that was connected later by
// other means: registered through the API, or found to be connected by a check. If
// its link has expired or was revoked, the link and the customer stay as they are
// and no event is emitted.
func completeLateSignup(tx *storage.Tx, a storage.Account, display string) error {
	i, err := tx.UsedInvitation(a.ID)
	if err != nil || i.Working || i.CustomerStatus == storage.CustomerArchived {
		return storage.IgnoreNotFound(err)
	}
	return completeSignup(tx, i, a, display)
}

// completeSignup marks the link as consumed, and emits the events that it is and
// that the customer has a number.
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
