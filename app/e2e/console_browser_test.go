package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// names are the accessible names of what a person can use on a page, in order.
func (o *onlooker) names() []string {
	return eval[[]string](o.window, `[...document.querySelectorAll("input:not([type=hidden]):not([hidden]), button, nav a")].map(
		e => e.labels?.[0]?.textContent ?? e.textContent.trim())`)
}

// signOut signs out by the menu of the account.
func (o *onlooker) signOut() {
	o.t.Helper()
	o.WaitFor(`document.querySelector("#account[aria-expanded]") !== null`)
	o.press("Account")
	o.press("Sign out")
}

// fits checks that nothing is wider than a small screen.
func (o *onlooker) fits() {
	o.t.Helper()
	o.Do(chromedp.EmulateViewport(360, 740))
	o.is.True(eval[bool](o.window, `document.documentElement.scrollWidth <= 360`))
	o.Do(chromedp.EmulateViewport(1280, 800))
}

func TestAPersonJoinsAndSignsInInABrowser(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	o := newOnlooker(t, s)
	_, link := s.invitePerson("ada@example.com", storage.RoleAdmin)
	o.Visit(s.app.URL() + link)
	o.heading("Welcome to " + s.tenant.Organization.Name)
	o.is.Equal(o.names(), []string{"Name", "New password", "Start"})
	o.fits()
	o.shoot("welcome")
	o.Do(chromedp.SendKeys(chromedp.CSS("#password"), "ada@example.com"))
	o.press("Start")
	o.WaitFor(`document.activeElement.id === "password" && document.querySelector("[role=alert]") !== null`)
	o.is.Equal(eval[string](o.window, `document.querySelector("#password-hint").textContent`), "Use 10 to 200 characters, and not your own name or address.")
	o.shoot("welcome-mistake")
	o.Do(chromedp.SendKeys(chromedp.CSS("#password"), goodPassword))
	o.press("Start")
	o.heading("Inbox")
	o.fits()
	o.shoot("frame")
	o.press("Settings")
	o.heading("People")

	// The requested screen comes after signing in, with nothing but the keyboard.
	o.signOut()
	o.heading("Sign in")
	o.Visit(s.app.URL() + "/console/webhooks")
	o.heading("Sign in")
	o.is.Equal(o.names(), []string{"Email", "Password", "Sign in"})
	o.fits()
	o.shoot("sign-in")
	o.Do(chromedp.KeyEvent("ADA@example.com"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("wrong password"), chromedp.KeyEvent(kb.Enter))
	o.WaitFor(`document.querySelector("[role=alert]")?.textContent === "Wrong email or password."`)
	o.WaitFor(`document.activeElement.id === "password"`)
	o.shoot("sign-in-mistake")
	o.Do(chromedp.KeyEvent(goodPassword), chromedp.KeyEvent(kb.Enter))
	o.heading("Webhooks")
	o.is.True(eval[string](o.window, `document.cookie`) == "") // no script reads it
	o.Visit(s.app.URL() + "/console/nothing")
	o.heading("Page not found")
	o.Visit(s.app.URL() + link)
	o.heading("This link is no longer valid")
	o.shoot("ended")
	o.complains("status of 401", "status of 400")
}

// complains checks that the browser had nothing against the pages but these.
func (o *onlooker) complains(expected ...string) {
	o.t.Helper()
	for _, text := range o.Errors() {
		known := strings.Contains(text, "status of 404") || strings.Contains(text, "status of 410")
		for _, part := range expected {
			known = known || strings.Contains(text, part)
		}
		if !known {
			o.t.Error(text)
		}
	}
}

func TestASandboxIsOpenedInABrowser(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	o := newOnlooker(t, s)
	o.Visit(s.app.URL() + "/")
	o.heading("Inbox") // signed in already
	o.signOut()
	o.heading("Sign in")
	o.shoot("sign-in-sandbox")
	o.Visit(s.app.URL() + "/console/contacts")
	o.heading("Sign in") // and stays out
	o.press("Continue as You")
	o.heading("Contacts")
	o.signOut()
	o.heading("Sign in")

	// By a link of another site one is not signed in.
	fresh := newOnlooker(t, s)
	fresh.Visit(fresh.platform)
	eval[any](fresh.window, `void (location.href = "`+s.app.URL()+`/console/inbox")`)
	fresh.heading("Sign in")
	fresh.press("Continue as You")
	fresh.heading("Inbox")
	o.calm()
	fresh.calm()
}
