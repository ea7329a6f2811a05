package provisioning

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"confab/jobs/provider"
	"confab/storage"
)

// NumberClaim is a number that somebody wants to connect, and the token that proves it.
type NumberClaim struct {
	PhoneNumberID string
	WABAID        string
	Token         provider.Token
	PIN           string // registers the number; "" leaves it as it is
}

// ErrOtherAccount means that a number is not in the business account named with it.
var ErrOtherAccount = errors.New("the business account does not have this number")

// Verify asks the provider whether the claim's token has access to its number and
// its business account, and whether the one belongs to the other.
func (a *Accounts) Verify(ctx context.Context, c NumberClaim) (provider.Number, error) {
	number, err := a.provider.Number(ctx, c.Token, c.PhoneNumberID)
	if err != nil {
		return number, fmt.Errorf("the token has no access to the number: %w", err)
	}

	all, err := a.provider.Numbers(ctx, c.Token, c.WABAID)
	if err != nil {
		return number, fmt.Errorf("the token has no access to the business account: %w", err)
	}

	if !slices.ContainsFunc(all, func(n provider.Number) bool { return string(n.ID) == c.PhoneNumberID }) {
		return number, ErrOtherAccount
	}
	return number, nil
}

// Connect verifies a claim, subscribes our app to the callbacks of the business
// account, and registers the number if a PIN is given and it cannot send yet. It
// returns the number's state after that, and whether it was registered. Nothing is
// stored.
func (a *Accounts) Connect(ctx context.Context, c NumberClaim) (number provider.Number, registered bool, err error) {
	if number, err = a.Verify(ctx, c); err != nil {
		return number, false, err
	}
	if err := a.provider.Subscribe(ctx, c.Token, c.WABAID); err != nil {
		return number, false, fmt.Errorf("the app cannot subscribe to the business account: %w", err)
	}

	if c.PIN == "" || number.Coexists() || number.Status == numberConnected {
		return number, false, nil
	}
	if err := registerNumber(ctx, a.provider, c.Token, c.PhoneNumberID, c.PIN, &number); err != nil {
		return number, false, fmt.Errorf("the number cannot be registered: %w", err)
	}
	return number, true, nil
}

func registerNumber(ctx context.Context, client *provider.Client, token provider.Token, id, pin string, n *provider.Number) error {
	if err := client.Register(ctx, token, id, pin); err != nil {
		return err
	}

	n.Status = numberConnected // also if it cannot be read again
	if after, err := client.Number(ctx, token, id); err == nil {
		*n = after
	}
	return nil
}

// WithNumberState returns an account with the provider's state of its number: connected, or
// waiting for its registration.
func WithNumberState(a storage.AccountDetail, n provider.Number) storage.AccountDetail {
	a.Status, a.StatusReason = storage.AccountOnboarding, nil
	applyNumber(&a, n)
	return a
}

// numberConnected is the only status in which the provider lets a number send.
const numberConnected = "CONNECTED"

// CheckNumber asks the provider for a number's state and returns what to write. If the
// account has lost its access, that is written at once, and the error returned.
func (a *Accounts) CheckNumber(ctx context.Context, account int64) (write func(*storage.Tx) error, err error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return nil, err
	}

	before := c.UpdatedAt
	number, err := a.provider.Number(ctx, c.token, *c.PhoneNumberID)
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, false)
	}

	applyNumber(&c.AccountDetail, number)
	return func(tx *storage.Tx) error {
		now, err := tx.AccountDetail(account)
		if err != nil {
			return storage.IgnoreNotFound(err)
		}

		// A change of the account after it was read is newer than the answer.
		if err := tx.MarkAccountChecked(account); err != nil || now.UpdatedAt != before {
			return err
		}
		return updateAccount(tx, &c.AccountDetail, number.DisplayPhoneNumber)
	}, nil
}

// applyNumber takes over the provider's state of a number. A number that is not
// connected degrades an account that was; one that is being onboarded goes on
// waiting, and one that is disconnected stays so.
func applyNumber(a *storage.AccountDetail, n provider.Number) {
	a.ProviderStatus = &n.Status
	a.Name = cmp.Or(storage.OrNil(n.VerifiedName), a.Name)
	a.PhoneNumber = cmp.Or(phoneOf(n), a.PhoneNumber)

	switch {
	case n.Status == numberConnected:
		a.Status, a.StatusReason = storage.AccountConnected, nil
		var health struct {
			CanSend string `json:"can_send_message"`
		}
		if json.Unmarshal(n.Health, &health) == nil && health.CanSend != "" { // else it is as before
			a.Restricted = health.CanSend == "BLOCKED"
		}
	case a.Status == storage.AccountConnected || a.Status == storage.AccountDegraded:
		a.Status, a.StatusReason = storage.AccountDegraded, new("The provider reports the number as "+n.Status+".")
	}
	if n.Status == "RESTRICTED" || n.Status == "BANNED" {
		a.Restricted = true
	}
}

// phoneOf is a number in E.164, or nil if its displayed form is not such a number.
func phoneOf(n provider.Number) *string {
	phone, ok := provider.ParsePhone(provider.Digits(n.DisplayPhoneNumber))
	if !ok {
		return nil
	}
	return &phone
}
