package doctor

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"confab/app"
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
	client, err := provider.New(app.ProviderOptions(e.config.Provider, e.Version))
	if err != nil {
		e.broken("provider", "Fix the settings in [provider].", "%v.", err)
		return
	}
	if reached && len(accounts) > 0 {
		e.provider = client
	}

	before, live := e.problems, 0
	for _, a := range accounts {
		if a.PhoneNumberID == nil || a.Status == storage.AccountDisconnected {
			continue // on purpose, or not yet
		}
		live++
		if e.checkAccountStatus(a) && reached {
			e.checkAtProvider(ctx, client, a)
		}
	}
	if e.problems == before && (reached || live == 0) {
		e.ok("accounts", "%s usable.", count(len(accounts), "number", "numbers"))
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

// checkAtProvider asks about a number with its own token.
func (e *examination) checkAtProvider(ctx context.Context, client *provider.Client, a storage.AccountDetail) {
	secret, ok := query(ctx, e, "accounts", func(rx *storage.Rx) (string, error) { return rx.AccessToken(a.Account) })
	token, number := provider.NewToken(secret), *a.PhoneNumberID
	if !ok || !e.checkAccessToken(ctx, client, token, number) {
		return
	}

	e.checkNumberHealth(ctx, client, token, number)
	if e.hasApp() {
		e.checkScopes(ctx, client, token, number)
		e.checkSubscription(ctx, client, token, a)
	}
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

const (
	// versionNotice is how long before its end a version of the API is worth a warning.
	versionNotice = 90 * 24 * time.Hour
	// tokenNotice is the same for a token.
	tokenNotice = 7 * 24 * time.Hour
)

// checkVersion checks how long the provider keeps the version of its API that is in use.
func (e *examination) checkVersion(now time.Time) {
	const check = "API version"
	version := e.config.Provider.Version
	advice := `Set provider.version = "` + provider.NewestVersion + `".`

	end, known := provider.VersionEnd(version)
	day := end.Format(time.DateOnly)
	switch {
	case !known:
		e.warn(check, advice, "%s is not a version that this build knows, so its end is unknown.", version)
	case end.IsZero():
		e.ok(check, "%s is the newest; no end is announced.", version)
	case !now.Before(end):
		e.broken(check, advice, "%s ended on %s: calls may fail or behave differently.", version, day)
	case end.Sub(now) < versionNotice:
		e.warn(check, advice, "%s ends on %s.", version, day)
	default:
		e.ok(check, "%s ends on %s.", version, day)
	}
}

// hasApp reports whether the settings say which app of the provider is ours.
func (e *examination) hasApp() bool {
	return e.config.Provider.AppID != "" && e.config.Provider.AppSecret.Reveal() != ""
}

// checkCallbackURL checks where the provider posts callbacks, and that our address, which can
// be reached, answers as the provider expects.
func (e *examination) checkCallbackURL(ctx context.Context) {
	const check = "callback URL"
	ours := e.config.PublicURL() + "/provider/webhook"
	if e.config.Provider.VerifyToken.Reveal() != "" && !e.answersChallenge(ctx, ours) {
		e.broken(check, "Let the proxy pass /provider/webhook to this server, with its query.",
			"%s does not answer the provider's verification.", ours)
		return
	}
	if !e.hasApp() {
		return
	}

	theirs, err := e.provider.CallbackURL(ctx)
	switch {
	case err != nil:
		e.warn(check, "Check provider.app_id and provider.app_secret.", "The provider doesn't say where it posts callbacks: %v.", err)
	case theirs == "":
		e.broken(check, "Set "+ours+" as the webhook of your app at the provider, with provider.verify_token.",
			"The app has no webhook at the provider: no message arrives.")
	case theirs != ours:
		e.broken(check, "Set "+ours+" as the webhook of your app at the provider, or fix server.public_url.",
			"The provider posts callbacks to %s.", theirs)
	default:
		e.ok(check, "The provider posts callbacks to %s.", ours)
	}
}

// answersChallenge reports whether an address answers as the provider's verification wants.
func (e *examination) answersChallenge(ctx context.Context, address string) bool {
	const challenge = "1158201444"
	query := url.Values{
		"hub.mode":         {"subscribe"},
		"hub.challenge":    {challenge},
		"hub.verify_token": {e.config.Provider.VerifyToken.Reveal()},
	}
	res, err := get(ctx, e.http, address+"?"+query.Encode())
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	return err == nil && res.StatusCode == http.StatusOK && string(body) == challenge
}

// checkScopes checks what a number's token may do, and for how long.
func (e *examination) checkScopes(ctx context.Context, client *provider.Client, token provider.Token, number string) {
	const check = "token"
	advice := "Create a token with whatsapp_business_messaging and whatsapp_business_management that doesn't expire, and reconnect: " +
		"confab accounts connect --phone-number-id " + number + " …"

	scopes, expires, err := client.TokenScopes(ctx, token)
	if err != nil {
		e.warn(check, "Check provider.app_id and provider.app_secret.",
			"The provider doesn't say what the token of number %s may do: %v.", number, err)
		return
	}

	for _, scope := range []string{"whatsapp_business_messaging", "whatsapp_business_management"} {
		if !slices.Contains(scopes, scope) {
			e.broken(check, advice, "The token of number %s lacks the permission %s.", number, scope)
			return
		}
	}
	if !expires.IsZero() && time.Until(expires) < tokenNotice {
		e.warn(check, advice, "The token of number %s expires on %s.", number, expires.UTC().Format(time.DateOnly))
	}
}

// checkSubscription checks that our app receives the callbacks of a number's account.
func (e *examination) checkSubscription(ctx context.Context, client *provider.Client, token provider.Token, a storage.AccountDetail) {
	const check = "subscription"
	number := *a.PhoneNumberID
	subscribed, override, err := client.IsSubscribed(ctx, token, storage.OrEmpty(a.WABAID))
	switch {
	case err != nil:
		e.warn(check, "Try again later.", "The provider doesn't say which apps get the callbacks of number %s: %v.", number, err)
	case !subscribed:
		e.broken(check, "Reconnect the number, which subscribes the app: confab accounts connect --phone-number-id "+number+" …",
			"The app is not subscribed to the account of number %s: no message arrives.", number)
	case override != "" && override != e.config.PublicURL()+"/provider/webhook":
		e.broken(check, "Remove the override of the callback URL at the provider.",
			"The callbacks of number %s go to %s.", number, override)
	}
}

// checkNumberHealth checks a number's display name, payment and limits.
func (e *examination) checkNumberHealth(ctx context.Context, client *provider.Client, token provider.Token, number string) {
	health, err := client.NumberHealth(ctx, token, number)
	if err != nil {
		e.warn("accounts", "Try again later, or set a newer provider.version.",
			"The provider doesn't say how number %s is: %v.", number, err)
		return
	}

	switch health.NameStatus {
	case "", "APPROVED", "AVAILABLE_WITHOUT_REVIEW", "NONE":
	default:
		e.warn("display name", "Choose another display name in the provider's business manager, or wait for its review.",
			"The display name of number %s is %s: people may not see it, and the number may be limited.", number, words(health.NameStatus))
	}

	for _, entity := range health.Health.Entities {
		for _, problem := range entity.Errors {
			check, advice := "health", problem.Solution
			if problem.Code == paymentProblem {
				check, advice = "payment method", "Add a payment method to the account in the provider's billing settings: "+
					"messages beyond the free ones are not delivered, though they are accepted."
			}
			if advice == "" {
				advice = "See the provider's business manager for details."
			}
			e.warn(check, advice, "Number %s: %s (%s, code %d).",
				number, strings.TrimSuffix(problem.Description, "."), words(entity.Type), problem.Code)
		}
	}

	switch health.Limit {
	case "TIER_50", "TIER_NOT_SET", "NOT_SET":
		e.warn("messaging limit", "Verify your business at the provider: its limit grows with that and with use.",
			"Number %s can begin conversations with few people a day (%s).", number, health.Limit)
	}
}

// paymentProblem is the code of an account that cannot pay.
const paymentProblem = 141006

func words(constant string) string { return strings.ToLower(strings.ReplaceAll(constant, "_", " ")) }
