package provisioning

import (
	"context"
	"errors"
	"sync"

	"confab/storage"
)

// ErrRegistering means that a number is being registered already.
var ErrRegistering = errors.New("this number is already being registered")

// ErrNoPIN means that no PIN was given, and none is kept for the number.
var ErrNoPIN = errors.New("no PIN is stored for this number")

// Registration is the result of a registration, to be stored by the caller.
type Registration struct {
	// Release lets others register the number. Call it after Store has committed.
	Release func()

	account storage.AccountDetail
	display string // the number as people read it
	pin     string // "" if none was needed
	idle    bool   // nothing was to be done
}

// Account is the account after Store.
func (r *Registration) Account() storage.AccountDetail { return r.account }

// Register registers a number with the provider, so that it can send. The pin must
// be the number's PIN if it has one, and becomes it if not; "" means the one that
// is kept. A connected number is left alone. Until Release is called, no one else can register the number.
func (a *Accounts) Register(ctx context.Context, account int64, pin string) (*Registration, error) {
	var done *Registration
	release, err := a.reserve(account, func() (err error) {
		done, err = a.register(ctx, account, pin)
		return err
	})
	if err != nil {
		return nil, err
	}
	done.Release = release
	return done, nil
}

// register is Register after the number was reserved. A number that is also used
// in the phone app is never registered, only its state is read, and needs no PIN.
func (a *Accounts) register(ctx context.Context, account int64, pin string) (*Registration, error) {
	c, err := a.credentials(ctx, account)
	if err != nil || c.Status == storage.AccountConnected {
		return &Registration{account: c.AccountDetail, idle: true}, err
	}

	number, err := a.provider.Number(ctx, c.token, *c.PhoneNumberID)
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, false)
	}

	if number.Coexists() {
		c.applyNumber(number)
		return &Registration{account: c.AccountDetail, display: c.display}, nil
	}

	if pin == "" {
		if pin, err = a.keptPIN(ctx, c.Account); err != nil {
			return nil, err
		}
	}

	// As management, because terms of use that nobody has accepted yet are refused
	// with the code of a missing permission.
	if err := registerNumber(ctx, a.provider, c.token, *c.PhoneNumberID, pin, &number); err != nil {
		return nil, a.recordRefusal(ctx, account, err, true)
	}

	// The call succeeded, so it is connected, even if its status is still old.
	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil
	return &Registration{account: c.AccountDetail, display: c.display, pin: pin}, nil
}

// keptPIN is the PIN that is kept for a number. One that cannot be read is as good as none.
func (a *Accounts) keptPIN(ctx context.Context, of storage.Account) (pin string, err error) {
	err = a.db.View(ctx, func(rx *storage.Rx) error {
		if pin, err = rx.PIN(of); errors.Is(err, storage.ErrSealed) {
			pin, err = "", nil
		}
		return err
	})
	if err == nil && pin == "" {
		err = ErrNoPIN
	}
	return pin, err
}

// reserve runs one registration of a number. The number stays reserved for it until the
// function that it returns is called; if the registration fails, it is free at once.
func (a *Accounts) reserve(account int64, register func() error) (func(), error) {
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

	registered := false
	defer func() {
		if !registered { // also after a panic
			release()
		}
	}()
	if err := register(); err != nil {
		return nil, err
	}
	registered = true
	return release, nil
}

// Store writes what the registration changed.
func (r *Registration) Store(tx *storage.Tx) error {
	if r.idle {
		return nil
	}

	if r.pin != "" {
		if err := tx.SetPIN(r.account.Account, r.pin); err != nil {
			return err
		}
	}
	return updateAccount(tx, &r.account, r.display)
}

// updateAccount stores what the provider reports about a number. If the number can
// send now, that may complete a customer's signup.
func updateAccount(tx *storage.Tx, a *storage.AccountDetail, display string) error {
	if err := tx.UpdateAccount(a); err != nil || a.Status != storage.AccountConnected || a.CustomerID == nil {
		return err
	}
	return completeLateSignup(tx, a.Account, display)
}
