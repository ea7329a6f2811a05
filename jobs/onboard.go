package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/jobs/queue"
	"confab/storage"
)

// onboardRetries are the pauses after transient errors. They are short and few,
// because somebody waits in front of the page.
var onboardRetries = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// onboard connects the number of a signup: it subscribes to its callbacks,
// registers it, and marks the setup link as consumed. Each step can be repeated, so
// that a run after a crash simply begins again.
func (w *Workers) onboard(ctx context.Context, job storage.Job, args storage.OnboardArgs) (queue.Commit, error) {
	done, err := w.Accounts.Onboard(ctx, args.Account)
	switch {
	case errors.Is(err, provisioning.ErrRegistering):
		return nil, queue.Postpone(onboardRetries[0]) // a request is registering it
	case errors.Is(err, storage.ErrNotFound):
		return nil, err
	case err != nil && queue.Stopped(ctx):
		return nil, queue.Postpone(0)
	case err != nil:
		return w.onboardFailed(job, args, err)
	}

	queue.OnSettled(ctx, done.Release)
	return func(tx *storage.Tx) error { return connectSignup(tx, args, done.Account, done.Display) }, nil
}

// onboardFailed tries a signup again after errors that may pass, or records that it failed.
func (w *Workers) onboardFailed(job storage.Job, args storage.OnboardArgs, failed error) (queue.Commit, error) {
	_, ofProvider := errors.AsType[*provider.Error](failed)
	mayPass := provider.IsTransient(failed) || !ofProvider && !errors.Is(failed, storage.ErrSealed)
	if mayPass && job.Attempt() <= len(onboardRetries) {
		return nil, queue.RetryAfter(onboardRetries[job.Attempt()-1], failed)
	}

	w.Log.Warn("could not connect a number", "setup_link", args.Link, "account", args.Account, "error", failed)
	reason := storage.ReasonProvider
	if provider.ClassOf(failed).Code == errorcode.RegistrationFailed {
		reason = storage.ReasonVerification
	}
	return func(tx *storage.Tx) error { return failSignup(tx, args, reason, messaging.FailureOf(failed).Text) }, nil
}

// giveUpOnboard ends the signup of a job that failed because of our own errors.
func giveUpOnboard(tx *storage.Tx, args storage.OnboardArgs, failed error) error {
	return failSignup(tx, args, storage.ReasonProvider, failed.Error())
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
		return tx.MarkAccountStatus(a.ID, a.Status, text)
	case args.Before != nil:
		return tx.MarkAccountStatus(a.ID, args.Before.Status, args.Before.Reason)
	}

	if err := tx.RemoveAccount(a.ID, text); err != nil {
		return err
	}
	return EnqueueAccountRemoval(tx, a.Account)
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
	return provisioning.CompleteSignup(tx, i, a.Account, display)
}

// StoreConnected stores an account with the token that opens it and what the provider
// says of its number, and enqueues the job that fetches its templates. The account is a
// new one, whose ID is 0, or one that lost its connection.
func StoreConnected(
	tx *storage.Tx, a storage.AccountDetail, claim provisioning.NumberClaim, n provider.Number,
) (storage.AccountDetail, error) {
	a.PhoneNumberID, a.WABAID = &claim.PhoneNumberID, &claim.WABAID
	a = provisioning.WithNumberState(a, n)

	if a.ID == 0 {
		if err := tx.InsertAccount(&a.Account, claim.Token.Reveal()); err != nil {
			return a, err
		}
	} else if err := tx.SetAccessToken(a.Account, claim.Token.Reveal()); err != nil {
		return a, err
	}

	if err := tx.UpdateAccount(&a); err != nil {
		return a, err
	}
	if claim.PIN != "" {
		if err := tx.SetPIN(a.Account, claim.PIN); err != nil {
			return a, err
		}
	}

	if err := EnqueueAccountCheck(tx, a.ID); err != nil { // this job fetches its templates too
		return a, err
	}
	return tx.AccountDetail(a.ID)
}
