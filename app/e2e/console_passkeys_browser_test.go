package e2e

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// onLocalhost gives a server a public URL under which browsers offer passkeys.
func onLocalhost(t testing.TB) func(*config.Config) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return func(c *config.Config) {
		c.Server.Listen, c.Server.PublicURL = "127.0.0.1:"+port, "http://localhost:"+port
	}
}

// holdsPasskeys gives the browser a device that keeps passkeys, and says whether its owner unlocks
// it.
func (b *window) holdsPasskeys(verified bool) webauthn.AuthenticatorID {
	b.t.Helper()
	return b.holds(webauthn.VirtualAuthenticatorOptions{HasUserVerification: true, IsUserVerified: verified})
}

func (b *window) holds(o webauthn.VirtualAuthenticatorOptions) (device webauthn.AuthenticatorID) {
	b.t.Helper()
	o.Protocol, o.Ctap2version, o.Transport, o.HasResidentKey, o.AutomaticPresenceSimulation = "ctap2", "ctap2_1", "internal", true, true
	b.Do(command(webauthn.Enable, webauthn.EnableParams{}), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		added, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &o})
		device = added.AuthenticatorID
		return err
	}))
	return device
}

// unlocks says whether the owner of a device unlocks it.
func (b *window) unlocks(device webauthn.AuthenticatorID, verified bool) {
	b.t.Helper()
	b.Do(command(webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: device, IsUserVerified: verified}))
}

// TestPeopleSignInWithPasskeysAndCodes is the story of the factors of an admin, in one window.
func TestPeopleSignInWithPasskeysAndCodes(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, onLocalhost(t))
	c := s.signedIn(t, "Mira Kovač", "admin@example.com", storage.RoleAdmin)
	c.holdsPasskeys(true)
	c.Visit(s.app.URL() + "/console/settings/profile") // by the name for which passkeys are
	app := anAppBringsRecoveryCodes(c)
	aPasskeyIsAddedBesideIt(c)
	thePasskeySignsIn(c)
	thePasswordSignsInWithASecondFactor(c, app)
	factorsAreRenamedAndRemoved(c)
}

// withoutCookies goes to the page of signing in, from where the profile opens.
func (c *colleague) withoutCookies() {
	c.t.Helper()
	c.Visit("about:blank") // the console would go to sign in by itself
	c.Do(command(cdpnetwork.ClearBrowserCookies, cdp.Empty{}))
	c.Visit(c.stage.app.URL() + "/console/sign-in?next=settings/profile")
}

// anAppBringsRecoveryCodes as the first factor, on the page of the profile.
func anAppBringsRecoveryCodes(c *colleague) codeApp {
	c.Click("button", "Add authenticator app")
	c.Find("image", "QR code")
	c.shoot("second-factor-app")
	app := codeApp{c.t, c.shown()[0], time.Now()}
	c.Fill("textbox", "Code", "000000")
	c.Click("button", "Turn on")
	c.WaitFor(`document.querySelector("dialog .wrong")?.textContent.startsWith("Code is wrong")`)
	c.Fill("textbox", "Code", app.code(0))
	c.Click("button", "Turn on")
	c.WaitFor(`document.querySelector("dialog .copyable.block code")?.textContent.split("\n").length === 10`)
	recovery := strings.Split(c.shown()[0], "\n")
	c.shoot("second-factor-recovery")
	c.Click("button", "Done")
	c.row("Authenticator app", "never")
	c.keepsNowhere(recovery[0])
	return app
}

// aPasskeyIsAddedBesideIt, which brings no new codes.
func aPasskeyIsAddedBesideIt(c *colleague) {
	c.Click("button", "Add passkey")
	c.Fill("textbox", "Name", "Laptop")
	c.Click("button", "Continue")
	c.row("Laptop", "never")
	c.WaitFor(`document.body.textContent.includes("10 of 10 recovery codes left")`)
	c.shoot("second-factor")
	c.is.Equal(storagetest.Select[string](c.t, c.stage.app.Config.DataDir, `SELECT name || ' ' || host FROM user_passkeys`), []string{"Laptop localhost"})
}

// thePasskeySignsIn alone.
func thePasskeySignsIn(c *colleague) {
	c.withoutCookies()
	c.Find("button", "Sign in with a passkey")
	c.shoot("sign-in-passkey")
	c.Click("button", "Sign in with a passkey")
	c.Find("heading", "Profile")
	c.WaitFor(`[...document.querySelectorAll("tbody tr")].some(r => r.textContent.includes("Laptop") && !r.textContent.includes("never"))`)
}

// thePasswordSignsInWithASecondFactor: a code or the passkey.
func thePasswordSignsInWithASecondFactor(c *colleague, app codeApp) {
	c.withoutCookies()
	c.signIn("admin@example.com")
	c.Find("heading", "Second factor")
	c.shoot("second-step")
	c.fillFirst("Code", app.code(1))
	c.Click("button", "Sign in")
	c.Find("heading", "Profile")
	c.withoutCookies()
	c.signIn("admin@example.com")
	c.Click("button", "Sign in with a passkey")
	c.Find("heading", "Profile")
}

// factorsAreRenamedAndRemoved; then the browser offers the passkey in vain.
func factorsAreRenamedAndRemoved(c *colleague) {
	c.Click("button", "Rename")
	c.Fill("textbox", "Name", "Old laptop")
	c.Click("button", "Save")
	c.row("Old laptop")
	c.edit("Old laptop", "Remove")
	c.Find("heading", "Remove Old laptop?")
	c.shoot("second-factor-remove")
	c.confirm("Remove")
	c.toast("Second factor removed")
	c.WaitFor(`!document.body.textContent.includes("Old laptop")`)
	c.WaitFor(`document.body.textContent.includes("10 of 10 recovery codes left")`) // the app is left
	c.edit("Authenticator app", "Remove")
	c.confirm("Remove")
	c.WaitFor(`document.body.textContent.includes("You don’t have one yet.")`)
	c.is.Equal(storagetest.Select[int](c.t, c.stage.app.Config.DataDir, `SELECT count(*) FROM user_recovery_codes`), []int{0})
	c.withoutCookies()
	c.Click("button", "Sign in with a passkey")
	c.WaitFor(`document.querySelector(".problem[role=alert]")?.textContent.includes("didn’t work")`)
}

// It has a server of its own, which soon answers an address no more that tries so much in vain.
func TestEachAnswerOfAPasskeyIsGoodOnce(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, onLocalhost(t))
	c := s.signedIn(t, "Mira Kovač", "admin@example.com", storage.RoleAdmin)
	c.holdsPasskeys(true)
	c.Visit(s.app.URL() + "/console/settings/profile")
	c.Click("button", "Add passkey")
	c.Click("button", "Continue")
	c.WaitFor(`document.querySelector("dialog .copyable.block code")?.textContent.split("\n").length === 10`) // the first factor
	c.Click("button", "Done")

	// An answer to a challenge of ours, made by the browser and sent by us.
	b := s.browser()
	options := b.open("POST", "/console/sign-in/passkey/start", nil)
	c.is.Equal(options.status, 200)
	answer := eval[string](c.window, `(async () => JSON.stringify((await navigator.credentials.get({
		publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(`+options.body+`) })).toJSON()))()`)
	give := func(b *browser, answer string) int {
		return b.open("POST", "/console/sign-in/passkey", url.Values{"answer": {answer}}).status
	}
	stolen := s.browser()
	c.is.Equal(give(stolen, answer), 401) // another browser has no challenge
	stolen.open("POST", "/console/sign-in/passkey/start", nil)
	c.is.Equal(give(stolen, answer), 401) // or another one
	cookies := make(map[string]string)
	for name, value := range b.cookies {
		cookies[name] = value
	}
	c.is.Equal(give(b, answer), 303)
	stolen.cookies = cookies
	c.is.Equal(give(stolen, answer), 401) // it was used
	for _, broken := range []string{"", "{}", "null", answer[:len(answer)/2], strings.Replace(answer, `"signature":"`, `"signature":"AAAA`, 1)} {
		b.open("POST", "/console/sign-in/passkey/start", nil)
		c.is.Equal(give(b, broken), 401)
	}
}

// A device whose owner does not unlock it makes no passkey and signs nobody in; and neither does a
// page that tells the browser not to ask.
func TestAPasskeyThatNobodyUnlocksIsNone(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, onLocalhost(t), func(c *config.Config) { c.Console.SecondFactor = "everyone" })
	dir := s.app.Config.DataDir
	c := s.signedIn(t, "Mira Kovač", "admin@example.com", storage.RoleAdmin)
	device := c.holdsPasskeys(false)
	c.Visit(s.app.URL() + "/console/inbox")
	c.Find("heading", "Set up a second factor")
	eval[any](c.window, `void (navigator.credentials.create = (options) =>
		CredentialsContainer.prototype.create.call(navigator.credentials, options).finally(() => window.refused = true))`)
	c.Click("button", "Add passkey") // refused by the device
	c.WaitFor(`window.refused === true`)
	c.Do(command(webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: device}))
	device = c.holds(webauthn.VirtualAuthenticatorOptions{}) // one that cannot ask
	const unverified = `
		const { options, ticket } = await (await fetch("second-factor/passkey/start", { method: "POST" })).json();
		options.authenticatorSelection.userVerification = "discouraged";
		const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
		const made = await navigator.credentials.create({ publicKey });
		const body = new URLSearchParams({ ticket, answer: JSON.stringify(made.toJSON()) });
		return (await fetch("second-factor", { method: "POST", body })).status;`
	c.is.Equal(eval[int](c.window, `(async () => {`+unverified+`})()`), 400)
	c.is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM user_passkeys`), []int{0})

	// Unlocked, it is the first factor, and lets its owner go on.
	c.Do(command(webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: device}))
	device = c.holdsPasskeys(true)
	c.shoot("setup-passkey")
	c.Click("button", "Add passkey")
	c.Find("heading", "Save your recovery codes")
	c.Click("link", "Continue")
	c.heading("Inbox")
	c.is.Equal(storagetest.Select[string](t, dir, `SELECT name FROM user_passkeys`), []string{"My device"})

	// Locked again, it signs nobody in.
	c.unlocks(device, false)
	b := s.browser()
	options := b.open("POST", "/console/sign-in/passkey/start", nil)
	answer := eval[string](c.window, `(async () => {
		const options = `+options.body+`;
		options.userVerification = "discouraged";
		return JSON.stringify((await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON());
	})()`)
	c.is.Equal(b.open("POST", "/console/sign-in/passkey", url.Values{"answer": {answer}}).status, 401)
	c.is.Equal(b.session(), "")
}

// The pages of signing in offer what is configured, and lead through it.
func TestAPersonSetsUpAFactorFirstAndSignsInThroughTheProvider(t *testing.T) {
	parallelBrowser(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure, func(c *config.Config) { c.Console.SecondFactor = "everyone" })
	c := s.signedIn(t, "Mira Kovač", "admin@example.com", storage.RoleAdmin)
	c.Visit(s.app.URL() + "/console/contacts")
	c.Find("heading", "Set up a second factor")
	c.Find("image", "QR code")
	c.shoot("setup")
	secret := eval[string](c.window, `document.querySelector(".hint code").textContent.replaceAll(" ", "")`)
	c.fillFirst("Code", codeApp{t, secret, time.Now()}.code(0))
	c.Click("button", "Turn on")
	c.Find("heading", "Save your recovery codes")
	c.shoot("setup-recovery")
	c.Click("link", "Continue")
	c.heading("Inbox")

	c.Visit("about:blank")
	c.Do(command(cdpnetwork.ClearBrowserCookies, cdp.Empty{}))
	c.Visit(s.app.URL() + "/console/sign-in?next=settings/profile")
	c.Find("link", "Sign in with Acme ID")
	c.Gone("button", "Sign in with a passkey") // the address is no domain
	c.shoot("sign-in-provider")
	p.as("stranger", "stranger@example.com", true)
	c.Click("link", "Sign in with Acme ID")
	c.WaitFor(`document.querySelector(".problem[role=alert]")?.textContent.includes("stranger@example.com")`)
	c.shoot("sign-in-refused")
	p.as("one", "admin@example.com", true)
	c.Click("link", "Sign in with Acme ID")
	c.heading("Profile") // where it was going
}
