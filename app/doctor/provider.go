package doctor

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

const (
	// clockSlack is what a clock may differ, and clockLimit is where receivers
	// begin to refuse our signatures.
	clockSlack = time.Minute
	clockLimit = 5 * time.Minute
)

// provider looks whether the provider can be reached, believes us, and can prove
// itself to us.
func (e *examination) provider(ctx context.Context) {
	var accounts []storage.AccountDetail
	if !e.view(ctx, "accounts", func(rx *storage.Rx) (err error) {
		accounts, err = rx.LiveAccounts()
		return err
	}) {
		return
	}
	if e.isSandbox && !e.served {
		return // a sandbox's provider ends with it
	}
	reached := e.reach(ctx)
	e.secrets(len(accounts))
	good := 0
	for _, a := range accounts {
		if a.PhoneNumberID == nil || a.Status == storage.AccountDisconnected {
			good++ // on purpose, or not yet
		} else if e.standing(a) && reached && e.token(ctx, a) {
			good++
		}
	}
	if good == len(accounts) {
		e.ok("accounts", "%d numbers, each usable.", good)
	}
}

// reach calls the provider, and compares its clock with ours.
func (e *examination) reach(ctx context.Context) bool {
	base := e.config.Provider.BaseURL
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/"+e.config.Provider.Version, nil)
	if err != nil {
		e.broken("provider", "Correct provider.base_url.", "%v.", err)
		return false
	}
	res, err := e.http.Do(req)
	if err != nil {
		e.broken("provider", "Check provider.base_url, DNS, and that this machine may call out on port 443.", "%s cannot be reached: %s.", base, reason(err))
		return false
	}
	res.Body.Close()
	e.ok("provider", "%s answers.", base)
	theirs, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return true
	}
	const advice = "Set the clock (timedatectl set-ntp true): receivers refuse signatures that are more than 5 minutes off."
	switch off := time.Since(theirs).Abs(); {
	case off > clockLimit:
		e.broken("clock", advice, "This machine's clock is %s off the provider's.", off.Round(time.Second))
	case off > clockSlack:
		e.warn("clock", advice, "This machine's clock is %s off the provider's.", off.Round(time.Second))
	}
	return true
}

// secrets looks whether callbacks can be believed.
func (e *examination) secrets(accounts int) {
	c := e.config.Provider
	switch {
	case c.AppSecret.Reveal() != "" && c.VerifyToken.Reveal() != "":
		e.ok("callbacks", "They are checked against provider.app_secret.")
	case accounts > 0:
		e.broken("callbacks", "Set CONFAB_PROVIDER__APP_SECRET and CONFAB_PROVIDER__VERIFY_TOKEN, as your app at the provider has them.",
			"provider.app_secret or provider.verify_token is not set: every callback is refused, so no message comes in and none is ever delivered.")
	default:
		e.warn("callbacks", "Set both before you connect a number.", "provider.app_secret or provider.verify_token is not set: callbacks are refused.")
	}
	if u, err := url.Parse(e.config.PublicURL()); accounts > 0 && err == nil && isLoopbackHost(u.Hostname()) && !e.local() {
		e.broken("public URL", "Set server.public_url to the address under which the internet reaches this server, and give the provider "+"<that>/provider/webhook.",
			"%s is an address of this machine only: the provider's callbacks cannot arrive, and media links lead nowhere.", e.config.PublicURL())
	}
}

// local tells whether the provider is one that runs on this machine, as a
// simulator does.
func (e *examination) local() bool {
	u, err := url.Parse(e.config.Provider.BaseURL)
	return err == nil && isLoopbackHost(u.Hostname())
}

// standing looks at what is known of a number here.
func (e *examination) standing(a storage.AccountDetail) bool {
	number := *a.PhoneNumberID
	why := ""
	if a.StatusReason != nil {
		why = " (" + *a.StatusReason + ")"
	}
	switch {
	case a.Restricted:
		e.warn("accounts", "See the provider's business manager for the reason.", "The provider has restricted the account of the number %s.", number)
	case a.Status == storage.AccountOnboarding:
		e.warn("accounts", "Run: confab accounts register "+number+" --pin PIN", "The number %s is not registered yet: it cannot send.", number)
	case a.Status != storage.AccountConnected:
		e.warn("accounts", "Run: confab accounts check "+number, "The number %s is %s%s: it cannot send.", number, a.Status, why)
	default:
		return true
	}
	return false
}

// token asks the provider about a number, with the number's own token.
func (e *examination) token(ctx context.Context, a storage.AccountDetail) bool {
	number := *a.PhoneNumberID
	var secret string
	if !e.view(ctx, "accounts", func(rx *storage.Rx) (err error) {
		secret, err = rx.AccessToken(a.Account)
		return err
	}) {
		return false
	}
	c := e.config.Provider
	client, err := provider.New(provider.Options{BaseURL: c.BaseURL, Version: c.Version, AppID: c.AppID, AppSecret: c.AppSecret.Reveal(), Timeout: c.Timeout, UserAgent: "confab/" + e.Version})
	if err != nil {
		e.broken("provider", "Correct the settings in [provider].", "%v.", err)
		return false
	}
	found, err := client.Number(ctx, provider.NewToken(secret), number)
	switch {
	case provider.IsTransient(err):
		e.warn("accounts", "Try again later.", "The provider did not tell about the number %s: %v.", number, err)
	case err != nil:
		e.broken("accounts", "Make a new access token at the provider and connect the number again: confab accounts connect --phone-number-id "+number+" …",
			"The provider refuses the token of the number %s: %v.", number, err)
	case found.Status != "" && found.Status != "CONNECTED":
		e.warn("accounts", "Run: confab accounts register "+number+" --pin PIN", "The provider says that the number %s is %s: it cannot send.", number, found.Status)
	default:
		return true
	}
	return false
}
