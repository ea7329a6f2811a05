package provisioning

import (
	"context"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// Onboarding is the result of Onboard, to be stored by the caller.
type Onboarding struct {
	Account storage.AccountDetail
	Display string // the number as people read it
	// Release lets others register the number. Call it after the rest has committed.
	Release func()
}

// Onboard connects the number of a signup: it subscribes our app to its callbacks and
// registers it with the PIN that is stored for it. Each step can be repeated. Until
// Release is called, no one else can register the number. The error is ErrRegistering
// if somebody else registers it.
func (a *Accounts) Onboard(ctx context.Context, account int64) (*Onboarding, error) {
	var done *Onboarding
	release, err := a.reserve(account, func() (err error) {
		done, err = a.onboard(ctx, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	done.Release = release
	return done, nil
}

// onboard is Onboard after the number was reserved.
func (a *Accounts) onboard(ctx context.Context, account int64) (*Onboarding, error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return nil, err
	}
	number, err := a.subscribeAndRegister(ctx, c)
	if err != nil {
		return nil, err
	}

	// The calls succeeded, so it is connected, even if its status is still old.
	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil
	return &Onboarding{Account: c.AccountDetail, Display: number.DisplayPhoneNumber}, nil
}

// subscribeAndRegister makes the calls of a signup and returns the number's state
// after them. A number that is also used in the phone app, or that is connected
// already, is not registered.
func (a *Accounts) subscribeAndRegister(ctx context.Context, c credentials) (n provider.Number, err error) {
	if err := a.provider.Subscribe(ctx, c.token, *c.WABAID); err != nil {
		return n, err
	}
	if n, err = a.provider.Number(ctx, c.token, *c.PhoneNumberID); err != nil || n.Coexists() || n.Status == numberConnected {
		return n, err
	}

	pin, err := storage.Query(ctx, a.db, func(rx *storage.Rx) (string, error) { return rx.PIN(c.Account) })
	if err != nil {
		return n, err
	}

	err = registerNumber(ctx, a.provider, c.token, *c.PhoneNumberID, pin, &n)
	return n, err
}

// CompleteSignup marks the link as consumed, and emits the events that it is and
// that the customer has a number.
func CompleteSignup(tx *storage.Tx, i storage.Invitation, a storage.Account, display string) error {
	first, err := tx.IsFirstSignup(i.CustomerID)
	if err != nil {
		return err
	}
	if err := tx.ConsumeSetupLink(&i.SetupLink); err != nil {
		return err
	}

	c, err := tx.Customer(i.OrganizationID, i.CustomerID)
	if err != nil {
		return err
	}

	if err := tx.Audit(a.OrganizationID, storage.System, "number.connected", "number", *a.PhoneNumberID); err != nil {
		return err
	}
	if err := event.SetupLinkConsumed(c, i.SetupLink, a).Emit(tx); err != nil {
		return err
	}
	return event.CustomerOnboarded(c, a, display, first).Emit(tx)
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
	return CompleteSignup(tx, i, a, display)
}
