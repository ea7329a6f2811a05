package provisioning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"confab/jobs/provider"
	"confab/storage"
)

// NumberClaim is a number that somebody wants to connect, and the token that proves that
// they may.
type NumberClaim struct {
	PhoneNumberID string
	WABAID        string
	Token         provider.Token
	PIN           string // registers the number; "" leaves it as it is
}

// ErrOtherAccount means that a number is not in the business account that was
// named with it.
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

// registerNumber registers a number and updates n with its state after that.
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
	c := credentials{AccountDetail: a}
	c.Status, c.StatusReason = storage.AccountOnboarding, nil
	c.applyNumber(n)
	return c.AccountDetail
}
