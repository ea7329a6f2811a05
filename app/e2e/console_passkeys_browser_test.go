package e2e

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"

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
func (b *window) holdsPasskeys(verified bool) {
	b.t.Helper()
	b.Do(command(webauthn.Enable, webauthn.EnableParams{}),
		command(webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: "ctap2", Ctap2version: "ctap2_1", Transport: "internal", HasResidentKey: true, HasUserVerification: true,
			IsUserVerified: verified, AutomaticPresenceSimulation: true,
		}}))
}

func TestPeopleSignInWithPasskeysAndCodes(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, onLocalhost(t))
	c := s.consoleAt(t, storage.RoleAdmin, "settings/profile", "Profile")
	c.holdsPasskeys(true)
	c.Visit(s.app.URL() + "/console/settings/profile") // by the name for which passkeys are
	dir := s.app.Config.DataDir

	// An app, which brings recovery codes.
	c.Click("button", "Add authenticator app")
	c.Find("image", "QR code")
	c.shoot("second-factor-app")
	app := codeApp{t, c.shown()[0]}
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

	// A passkey beside it: no new codes.
	c.Click("button", "Add passkey")
	c.Fill("textbox", "Name", "Laptop")
	c.Click("button", "Continue")
	c.row("Laptop", "never")
	c.WaitFor(`document.body.textContent.includes("10 of 10 recovery codes left")`)
	c.shoot("second-factor")
	c.is.Equal(storagetest.Select[string](t, dir, `SELECT name || ' ' || host FROM user_passkeys`), []string{"Laptop localhost"})

	// Signed out: by the passkey alone.
	signOut := func() {
		c.Visit("about:blank") // the console would go to sign in by itself
		c.Do(command(cdpnetwork.ClearBrowserCookies, cdp.Empty{}))
		c.Visit(s.app.URL() + "/console/sign-in?next=settings/profile")
	}
	signOut()
	c.Find("button", "Sign in with a passkey")
	c.shoot("sign-in-passkey")
	c.Click("button", "Sign in with a passkey")
	c.Find("heading", "Profile")
	c.WaitFor(`[...document.querySelectorAll("tbody tr")].some(r => r.textContent.includes("Laptop") && !r.textContent.includes("never"))`)

	// By the password, and then a code or the passkey.
	signOut()
	c.Fill("textbox", "Email", "admin@example.com")
	c.Fill("textbox", "Password", goodPassword)
	c.Click("button", "Sign in")
	c.Find("heading", "Second factor")
	c.shoot("second-step")
	c.Fill("textbox", "Code", app.code(1))
	c.Click("button", "Sign in")
	c.Find("heading", "Profile")
	signOut()
	c.Fill("textbox", "Email", "admin@example.com")
	c.Fill("textbox", "Password", goodPassword)
	c.Click("button", "Sign in")
	c.Click("button", "Sign in with a passkey")
	c.Find("heading", "Profile")

	// Renamed and removed; then the browser offers it in vain.
	c.Click("button", "Rename")
	c.Fill("textbox", "Name", "Old laptop")
	c.Click("button", "Save")
	c.row("Old laptop")
	storagetest.Exec(t, dir, `DELETE FROM user_passkeys`)
	s.app.DB.DropCaches()
	signOut()
	c.Click("button", "Sign in with a passkey")
	c.WaitFor(`document.querySelector(".problem[role=alert]")?.textContent.includes("didn’t work")`)
}

func TestAPasskeyThatNobodyUnlockedIsRefusedAndEachAnswerIsGoodOnce(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, onLocalhost(t))
	c := s.consoleAt(t, storage.RoleAdmin, "settings/profile", "Profile")
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
	c.Fill("textbox", "Code", codeApp{t, secret}.code(0))
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
