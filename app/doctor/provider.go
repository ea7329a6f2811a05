package doctor

import (
	"context"
	"net/http"
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

const (
	// A clock may differ by clockSlack. Beyond clockLimit, receivers refuse our signatures.
	clockSlack = time.Minute
	clockLimit = 5 * time.Minute
)

// checkProvider checks that the provider answers and takes our tokens, and its callbacks can be verified.
func (e *examination) checkProvider(ctx context.Context) {
	accounts, ok := query(ctx, e, "accounts", (*storage.Rx).LiveAccounts)
	if !ok {
		return
	}

	if e.isSandbox && !e.served {
		return // a sandbox's provider ends with it
	}

	reached := e.checkReachable(ctx)
	e.checkVersion(time.Now())
	e.checkCallbackSecrets(len(accounts))
	client := e.newClient()
	if client == nil {
		return
	}
	if reached && len(accounts) > 0 {
		e.provider = client
	}

	good := 0
	for _, a := range accounts {
		if a.PhoneNumberID == nil || a.Status == storage.AccountDisconnected {
			good++ // on purpose, or not yet
		} else if e.checkAccountStatus(a) && reached && e.checkAtProvider(ctx, client, a) {
			good++
		}
	}

	if good == len(accounts) {
		e.ok("accounts", "%s usable.", count(good, "number", "numbers"))
	}
}

// checkReachable compares the provider's clock with ours. It returns whether the provider answered.
func (e *examination) checkReachable(ctx context.Context) bool {
	base := e.config.Provider.BaseURL
	res, err := get(ctx, e.http, base+"/"+e.config.Provider.Version)
	if err != nil {
		e.broken("provider", "Check provider.base_url, DNS, and that outgoing connections to port 443 are allowed.",
			"%s cannot be reached: %s.", base, errorText(err))
		return false
	}
	res.Body.Close()

	// Any answer shows that the provider can be reached, with any status.
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

// checkCallbackSecrets checks that callbacks of the provider can arrive and be verified.
func (e *examination) checkCallbackSecrets(accounts int) {
	c := e.config.Provider
	switch {
	case c.AppSecret.Reveal() != "" && c.VerifyToken.Reveal() != "":
		e.ok("callbacks", "Callbacks are verified with provider.app_secret.")
	case accounts > 0:
		e.broken("callbacks", "Set CONFAB_PROVIDER__APP_SECRET and CONFAB_PROVIDER__VERIFY_TOKEN to those of your app.",
			"provider.app_secret or provider.verify_token is not set: every callback is refused, "+
				"so no messages arrive and no delivery is ever reported.")
	default:
		e.warn("callbacks", "Set both before you connect a number.",
			"provider.app_secret or provider.verify_token is not set: callbacks are refused.")
	}

	// A simulator runs on this machine too, and reaches it.
	if accounts > 0 && isLoopbackHost(hostOf(e.config.PublicURL())) && !isLoopbackHost(hostOf(c.BaseURL)) {
		e.broken("public URL",
			"Set server.public_url to the public address of this server, "+
				"and set <that address>/provider/webhook as the webhook at the provider.",
			"%s is a local address: the provider's callbacks cannot reach it, and media links do not work.",
			e.config.PublicURL())
	}
}

// checkAccountStatus returns whether a number can send, by what the database says of it.
func (e *examination) checkAccountStatus(a storage.AccountDetail) bool {
	number := *a.PhoneNumberID

	why := ""
	if a.StatusReason != nil {
		why = " (" + *a.StatusReason + ")"
	}

	switch {
	case a.Restricted:
		e.warn("accounts", "See the provider's business manager for details.",
			"The provider has restricted the account of number %s.", number)
	case a.Status == storage.AccountOnboarding:
		e.warn("accounts", "Run: confab accounts register "+number+" --pin PIN",
			"Number %s is not registered yet and cannot send.", number)
	case a.Status != storage.AccountConnected:
		e.warn("accounts", "Run: confab accounts check "+number, "Number %s is %s%s and cannot send.", number, a.Status, why)
	default:
		return true
	}
	return false
}

// checkAtProvider asks about a number with its own token, and returns whether all is well.
func (e *examination) checkAtProvider(ctx context.Context, client *provider.Client, a storage.AccountDetail) bool {
	secret, ok := query(ctx, e, "accounts", func(rx *storage.Rx) (string, error) { return rx.AccessToken(a.Account) })
	if !ok {
		return false
	}

	token, number := provider.NewToken(secret), *a.PhoneNumberID
	if !e.checkAccessToken(ctx, client, token, number) {
		return false
	}
	good := e.checkNumberHealth(ctx, client, token, number)
	if e.hasApp() {
		good = e.checkScopes(ctx, client, token, number) && good
		good = e.checkSubscription(ctx, client, token, a) && good
	}
	return good
}

// checkAccessToken checks a number's token, and returns whether the number can send.
func (e *examination) checkAccessToken(ctx context.Context, client *provider.Client, token provider.Token, number string) bool {
	found, err := client.Number(ctx, token, number)
	switch {
	case provider.IsTransient(err):
		e.warn("accounts", "Try again later.", "The provider returned no status for number %s: %v.", number, err)
	case err != nil:
		e.broken("accounts", "Create a new access token at the provider and reconnect the number: "+
			"confab accounts connect --phone-number-id "+number+" …",
			"The provider rejects the token of number %s: %v.", number, err)
	case found.Status != "" && found.Status != "CONNECTED":
		e.warn("accounts", "Run: confab accounts register "+number+" --pin PIN",
			"According to the provider, number %s is %s and cannot send.", number, found.Status)
	default:
		return true
	}
	return false
}
