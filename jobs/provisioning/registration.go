package provisioning

import (
	"context"
	"errors"
	"sync"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// ErrRegistering means that a number is being registered already.
var ErrRegistering = errors.New("this number is already being registered")

// ErrNoPIN means that no PIN was given, and none is kept for the number.
var ErrNoPIN = errors.New("no PIN is stored for this number")

// Registration is the result of Register or Onboard, to be stored by the caller.
type Registration struct {
	Account storage.AccountDetail
	Display string // the number as people read it
	// Release lets others register the number. Call it after the rest has committed.
	Release func()

	pin  string // "" if none was needed
	idle bool   // nothing was to be done
}

// Register registers a number with the provider, so that it can send. The pin must
// be the number's PIN if it has one, and becomes it if not; "" means the one that
// is kept. A connected number is left alone. Until Release is called, no one else can register the number.
func (a *Accounts) Register(ctx context.Context, account int64, pin string) (*Registration, error) {
	return a.reserve(account, func() (*Registration, error) { return a.register(ctx, account, pin) })
}

// register is Register after the number was reserved. A number that is also used
// in the phone app is never registered, only its state is read, and needs no PIN.
func (a *Accounts) register(ctx context.Context, account int64, pin string) (*Registration, error) {
	c, err := a.credentials(ctx, account)
	if err != nil || c.Status == storage.AccountConnected {
		return &Registration{Account: c.AccountDetail, idle: true}, err
	}

	number, err := a.provider.Number(ctx, c.token, *c.PhoneNumberID)
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, false)
	}

	if number.Coexists() {
		applyNumber(&c.AccountDetail, number)
		return &Registration{Account: c.AccountDetail, Display: number.DisplayPhoneNumber}, nil
	}

	if pin == "" {
		// One that is kept and cannot be read is as good as none.
		pin, err = storage.Query(ctx, a.db, func(rx *storage.Rx) (string, error) { return rx.PIN(c.Account) })
		if errors.Is(err, storage.ErrSealed) || err == nil && pin == "" {
			err = ErrNoPIN
		}
		if err != nil {
			return nil, err
		}
	}

	// As management, because terms of use that nobody has accepted yet are refused
	// with the code of a missing permission.
	if err := registerNumber(ctx, a.provider, c.token, *c.PhoneNumberID, pin, &number); err != nil {
		return nil, a.recordRefusal(ctx, account, err, true)
	}

	return registered(c, number, pin), nil
}

// registered is the account of a number for which the calls succeeded: it is connected, even if its
// status is still old.
func registered(c credentials, n provider.Number, pin string) *Registration {
	applyNumber(&c.AccountDetail, n)
	c.Status, c.StatusReason = storage.AccountConnected, nil
	return &Registration{Account: c.AccountDetail, Display: n.DisplayPhoneNumber, pin: pin}
}

// reserve runs one registration of a number. The number stays reserved for it until it is
// released; if the registration fails, it is free at once.
func (a *Accounts) reserve(account int64, register func() (*Registration, error)) (done *Registration, err error) {
	a.mu.Lock()
	taken := a.registering[account]
	a.registering[account] = true
	a.mu.Unlock()
	if taken {
		return nil, ErrRegistering
	}

	release := sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.registering, account)
	})

	defer func() {
		if done == nil { // also after a panic
			release()
		}
	}()
	if done, err = register(); err != nil {
		return nil, err
	}
	done.Release = release
	return done, nil
}

// Store writes what the registration changed.
func (r *Registration) Store(tx *storage.Tx) error {
	if r.idle {
		return nil
	}

	// What a callback said while the provider was asked is newer.
	now, err := tx.AccountDetail(r.Account.ID)
	if err != nil {
		return err
	}
	if now.UpdatedAt != r.Account.UpdatedAt {
		r.Account.Restricted, r.Account.Name = now.Restricted, now.Name
		if now.Status == storage.AccountDisconnected {
			r.Account.Status, r.Account.StatusReason = now.Status, now.StatusReason
		}
	}

	if r.pin != "" {
		if err := tx.SetPIN(r.Account.Account, r.pin); err != nil {
			return err
		}
	}
	return updateAccount(tx, &r.Account, r.Display)
}

// updateAccount stores what the provider reports about a number. That may complete the signup of one
// that was connected by other means than its link: registered through the API, or found to be
// connected by a check. If its link has expired or was revoked, the link and the customer stay as
// they are and no event is emitted.
func updateAccount(tx *storage.Tx, a *storage.AccountDetail, display string) error {
	if err := tx.UpdateAccount(a); err != nil || a.Status != storage.AccountConnected || a.CustomerID == nil {
		return err
	}
	i, err := tx.UsedInvitation(a.ID)
	if err != nil || i.Working || i.CustomerStatus == storage.CustomerArchived {
		return storage.IgnoreNotFound(err)
	}
	return CompleteSignup(tx, i, a.Account, display)
}

// Onboard connects the number of a signup: it subscribes our app to its callbacks and
// registers it with the PIN that is stored for it. Each step can be repeated. Until
// Release is called, no one else can register the number. The error is ErrRegistering
// if somebody else registers it.
func (a *Accounts) Onboard(ctx context.Context, account int64) (*Registration, error) {
	return a.reserve(account, func() (*Registration, error) {
		c, err := a.credentials(ctx, account)
		if err != nil {
			return nil, err
		}
		number, err := a.subscribeAndRegister(ctx, c)
		if err != nil {
			return nil, err
		}
		return registered(c, number, ""), nil
	})
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

// CompleteSignup marks the link as consumed, and emits the events of link and customer.
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
