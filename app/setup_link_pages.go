package app

import (
	"context"
	"net"
	"net/url"
	"slices"

	"confab/app/pages"
	"confab/jobs/provisioning"
)

// Signup is what the provider's signup of a business returns.
type Signup = pages.Signup

// openOnboard makes the pages of setup links, with the provider's own signup unless in a sandbox.
func (a *App) openOnboard() {
	a.onboard = pages.NewOnboard(pages.OnboardOptions{
		DB:             a.DB,
		Provider:       a.work.Provider,
		Hosts:          a.hosts,
		Settings:       a.Config.Provider,
		SimulateSignup: a.SimulateSignup,
		ClientNetwork:  a.api.ClientNetwork,
		Log:            a.Log,
	})
}

// inventNumber lets a sandbox's admin have another number, by the signup that a customer
// of the sandbox goes through; nil elsewhere.
func (a *App) inventNumber() func(ctx context.Context, name, phone string) (provisioning.NumberClaim, error) {
	if a.SimulateSignup == nil {
		return nil
	}
	return func(ctx context.Context, name, phone string) (c provisioning.NumberClaim, err error) {
		s, err := a.SimulateSignup(name, phone)
		if err != nil {
			return c, err
		}
		token, err := a.work.Provider.ExchangeCode(ctx, s.Code)
		return provisioning.NumberClaim{PhoneNumberID: s.PhoneNumberID, WABAID: s.WABAID, Token: token, PIN: sandboxPIN}, err
	}
}

// sandboxPIN registers the numbers of a sandbox.
const sandboxPIN = "000000"

// findHosts collects the host names under which the pages may be requested.
func (a *App) findHosts() pages.Hosts {
	names := slices.Clone(a.Config.Server.TLSDomains)
	if host, _, err := net.SplitHostPort(a.Config.Server.Listen); err == nil {
		names = append(names, host)
	}
	if u, err := url.Parse(a.URL()); err == nil {
		names = append(names, u.Hostname())
	}
	return names
}
