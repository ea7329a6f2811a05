package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/app"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
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
	o.Type("#password", "ada@example.com")
	o.press("Start")
	o.WaitFor(`document.activeElement.id === "password" && document.querySelector("[role=alert]") !== null`)
	o.is.Equal(eval[string](o.window, `document.querySelector("#password-hint").textContent`), "Use 10 to 200 characters, and not your own name or address.")
	o.shoot("welcome-mistake")
	o.Type("#password", goodPassword)
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
	theConsoleWorksBelowAPathOfAProxy(&colleague{window: o.window, t: t, is: o.is, stage: s})
}

// complains checks that the browser had nothing against the pages but these since it was checked last.
func (o *onlooker) complains(expected ...string) {
	o.t.Helper()
	errors, _ := o.news()
	for _, text := range errors {
		known := strings.Contains(text, "status of 404") || strings.Contains(text, "status of 410")
		for _, part := range expected {
			known = known || strings.Contains(text, part)
		}
		if !known {
			o.t.Error(text)
		}
	}
}

// TestASandbox opens one and leaves it, comes by a link of another site, makes a number up, and uses
// it on a small screen, in one window.
func TestASandbox(t *testing.T) {
	parallelBrowser(t)
	you := new(string)
	s := startStage(t, func(o *app.Options, sim *simulator.Server) {
		o.SandboxUser, o.Simulator = func() string { return *you }, func() http.Handler { return sim.Control() }
		o.SimulateSignup = func(name, phone string) (app.Signup, error) {
			made, err := sim.Signup(name, phone)
			return app.Signup{Code: made.Code, WABAID: made.WABAID, PhoneNumberID: made.PhoneNumberID}, err
		}
	})
	u := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "You", Role: storage.RoleAdmin}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	*you = u.ID

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

	// By a link of another site one is not signed in, in a browser that was never here.
	o.Visit(o.platform)
	o.Do(command(cdpnetwork.ClearBrowserCookies, cdp.Empty{}))
	eval[any](o.window, `void (location.href = "`+s.app.URL()+`/console/inbox")`)
	o.heading("Sign in")
	o.press("Continue as You")
	o.heading("Inbox")
	o.calm()
	c := &colleague{window: o.window, t: t, is: o.is, stage: s}
	aSandboxMakesNumbersUp(c)
	aSmallScreenHasItsNavigationBehindAMenu(c)
}

func aSandboxMakesNumbersUp(c *colleague) {
	s := c.stage
	c.Visit(s.app.URL() + "/console/numbers?new=1")
	c.Find("dialog", "New number")
	c.shoot("number-made-up")
	c.Fill("textbox", "Name", "Second shop")
	c.Fill("textbox", "Number", "12")
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [name=phone_number]").ariaInvalid === "true"`)
	c.Fill("textbox", "Number", "")
	c.Click("button", "Connect")
	c.Gone("dialog", "New number")
	c.row("Second shop", "connected")
	c.is.True(strings.Contains(string(s.exchange("GET", s.app.URL()+"/v1/accounts", "")), "Second shop"))
	c.calm("status of 400")
}

func aSmallScreenHasItsNavigationBehindAMenu(c *colleague) {
	c.Do(chromedp.EmulateViewport(360, 740), c.Prefers("prefers-reduced-motion", "reduce"))
	c.open("inbox", "Inbox")
	c.WaitFor(`document.querySelector(".brand").textContent.includes("Sandbox")`)
	c.Gone("link", "Contacts")
	c.Click("button", "Menu")
	c.is.Equal(c.links("Main"), []string{"Inbox", "Contacts", "Broadcasts", "Templates", "Rules", "Numbers", "Customers", "Reports", "Costs", "Webhooks", "Log", "Settings", "Phone"})
	c.is.Equal(eval[string](c.window, `document.activeElement.textContent`), "Inbox")
	keepPicture(c.t, c.window, "menu-open-360")
	c.Press(kb.Escape)
	c.Gone("link", "Contacts")
	c.is.Equal(eval[string](c.window, `document.activeElement.id`), "menu")
	c.Press(kb.Enter)
	c.Click("link", "Phone")
	c.heading("Phone")
	c.Gone("link", "Contacts") // it closes by itself
	c.Click("button", "Search or jump to")
	c.Find("dialog", "Search or jump to")
	c.Press("sett")
	c.Click("option", "Settings Screen")
	c.heading("People")
	c.calm()
}

func theConsoleWorksBelowAPathOfAProxy(c *colleague) {
	target, err := url.Parse(c.stage.app.URL())
	c.is.NoErr(err)
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.StripPrefix("/chat", http.HandlerFunc(forward.ServeHTTP)))
	defer proxy.Close()
	defer c.Visit("about:blank") // which its stream ends with

	_, link := c.stage.invitePerson("bo@example.com", storage.RoleAdmin)
	c.Visit(proxy.URL + "/chat" + link)
	c.Fill("textbox", "New password", goodPassword)
	c.Click("button", "Start")
	c.heading("Inbox")
	c.Click("link", "Settings")
	c.Find("cell", "Ada you bo@example.com")
	c.is.Equal(eval[string](c.window, `location.pathname`), "/chat/console/settings/people")
	c.Do(chromedp.Reload())
	c.heading("People")
	errors, requests := c.news()
	for _, request := range requests {
		c.is.True(strings.HasPrefix(request, proxy.URL+"/chat/"))
	}
	c.is.Equal(len(errors), 0)
}
