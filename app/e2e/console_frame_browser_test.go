package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/matryer/is"

	"confab/storage"
)

// colleague is a person at the console, in a real browser.
type colleague struct {
	*window
	t     *testing.T
	is    *is.I
	stage *stage
}

// console opens a browser at the inbox, signed in with a role. With options it is a browser of
// its own.
func (s *stage) console(t *testing.T, role string, more ...chromedp.ExecAllocatorOption) *colleague {
	t.Helper()
	return s.seated(t, "Mira Kovač", role+"@example.com", role, more...)
}

// consoleAt is console for a test of another screen, which opens at once: to load the inbox
// first would take as long as many a test.
func (s *stage) consoleAt(t *testing.T, role, path, heading string) *colleague {
	t.Helper()
	c := s.signedIn(t, "Mira Kovač", role+"@example.com", role)
	c.open(path, heading)
	return c
}

// seated opens a browser at the inbox for somebody new.
func (s *stage) seated(t *testing.T, name, email, role string, more ...chromedp.ExecAllocatorOption) *colleague {
	t.Helper()
	c := s.signedIn(t, name, email, role, more...)
	c.open("", "Inbox")
	return c
}

// signedIn opens a window with the session of somebody new.
func (s *stage) signedIn(t *testing.T, name, email, role string, more ...chromedp.ExecAllocatorOption) *colleague {
	t.Helper()
	chrome := "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0" // as the sessions of the console say
	b, _ := s.member(name, email, role, chrome)
	c := &colleague{window: openWindow(t, more...), t: t, is: is.New(t), stage: s}
	c.Do(chromedp.EmulateViewport(1280, 800))
	for name, value := range b.cookies {
		for _, address := range []string{b.base, s.app.URL()} { // as it listens, and as it is called
			c.Do(command(cdpnetwork.SetCookie, cdpnetwork.SetCookieParams{
				Name: name, Value: value, URL: address + "/", HTTPOnly: new(true), SameSite: cdpnetwork.CookieSameSiteLax,
			}))
		}
	}
	return c
}

// signIn signs in with goodPassword, on the page for that.
func (c *colleague) signIn(email string) {
	c.t.Helper()
	c.fillFirst("Email", email)
	c.Fill("textbox", "Password", goodPassword)
	c.Click("button", "Sign in")
}

// fillFirst fills in the field that a page begins with, once the browser has put the cursor there: it
// complains about a page in which somebody was faster.
func (c *colleague) fillFirst(name, value string) {
	c.t.Helper()
	c.WaitFor(`document.activeElement.autofocus === true`)
	c.Fill("textbox", name, value)
}

// open goes to a screen, as somebody who types its address.
func (c *colleague) open(path, heading string) {
	c.t.Helper()
	c.Visit(c.stage.app.URL() + "/console/" + path)
	c.heading(heading)
	c.Find("heading", heading) // once: to search the tree takes as long as to go to a screen
}

// goTo goes to another screen as somebody who follows a link: no page is loaded. What was said
// on the screen before is dismissed.
func (c *colleague) goTo(path, heading string) {
	c.t.Helper()
	eval[any](c.window, `void document.querySelectorAll(".toast > button:last-child").forEach(b => b.click())`)
	c.openAddress(path)
	c.heading(heading)
}

// news are the errors and the requests of a window since it was asked for them last.
func (b *window) news() (errors, requests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	errors, requests = b.complaints, b.requests
	b.complaints, b.requests = nil, nil
	return errors, requests
}

// calm checks that the browser had nothing against the pages since it was checked last, and that
// they asked for nothing of others. An error that the API was expected to answer is no complaint.
func (c *colleague) calm(expected ...string) {
	c.t.Helper()
	errors, requests := c.news()
	for _, text := range errors {
		if !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(text, part) }) {
			c.t.Error(text)
		}
	}
	for _, request := range requests {
		// Previews of files and drawings of the browser's own come from no server.
		if !strings.HasPrefix(strings.TrimPrefix(request, "blob:"), c.stage.app.URL()+"/") && !strings.HasPrefix(request, "data:") {
			c.t.Errorf("the console asked for %s", request)
		}
	}
}

// shoot takes pictures of the page at two widths, in light and dark.
func (c *colleague) shoot(name string) {
	c.t.Helper()
	if *screenshots == "" && *axeFile == "" {
		return
	}
	for _, device := range []struct {
		name          string
		width, height int64
		scale         float64
	}{{"360", 360, 740, 2}, {"1280", 1280, 800, 1}} {
		for _, scheme := range []string{"light", "dark"} {
			c.Do(chromedp.EmulateViewport(device.width, device.height, chromedp.EmulateScale(device.scale)), c.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
			keepPicture(c.t, c.window, name+"-"+device.name+"-"+scheme)
		}
	}
	c.Do(chromedp.EmulateViewport(1280, 800), c.Prefers("prefers-color-scheme", "light"))
}

// heading waits for the screen with a heading, which is the only one of its level.
func (c *colleague) heading(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.querySelector("main")?.ariaBusy !== "true" && document.querySelectorAll("main, [role=main]").length === 1 &&
		JSON.stringify([...document.querySelectorAll("h1")].map(h => h.textContent)) === JSON.stringify([%q])`, text))
}

// links lists the names of the links of a navigation, without their counts.
func (c *colleague) links(landmark string) []string {
	c.t.Helper()
	return eval[[]string](c.window, `[...document.querySelectorAll("nav[aria-label=`+landmark+`] a")].map(a => [...a.childNodes].filter(one => !one.matches?.("b, .unseen")).map(one => one.textContent).join(""))`)
}

// fits checks that nothing is wider than the window: the narrowest, one whose side bar is
// icons, and one beside the whole side bar. Nor is a mouse needed: every control has a name.
func (c *colleague) fits() {
	c.t.Helper()
	for _, width := range []int64{320, 768, 1100, 1280} {
		c.Do(chromedp.EmulateViewport(width, 800))
		c.WaitFor(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("main").scrollWidth <= document.querySelector("main").clientWidth`)
	}
	for _, one := range eval[[]string](c.window, namesJS+".list()") {
		if role, isNameless := strings.CutSuffix(one, ` ""`); isNameless {
			c.t.Errorf("a %s has no name", role)
		}
	}
}

// at is the path of the page below /console/.
func (c *colleague) at() string {
	c.t.Helper()
	return strings.TrimPrefix(eval[string](c.window, `location.pathname + location.search`), "/console/")
}

// TestTheFrame goes about the console as an admin, in one window: by links, by keys and by ids,
// without a number and without the server, and out.
func TestTheFrame(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.consoleAt(t, storage.RoleAdmin, "contacts", "Contacts")
	screensWithoutANumberLeadToTheNumbers(c)

	number := s.connect()
	contact := s.heard(number, `"type":"text","text":{"body":"hi"}`)["contact_id"].(string)
	c.open("", "Inbox")
	linksLeadEverywhere(c)
	historyAndAddressesLeadBack(c)
	anyIDOpensItsScreen(c, number)
	peopleAreFoundByName(c, contact)
	keysDoWithoutAMouse(c)
	theServerIsMissed(c)
	theAccountMenuChangesTheTheme(c)
	theAccountMenuSignsOut(c)
}

func screensWithoutANumberLeadToTheNumbers(c *colleague) {
	for _, heading := range []string{"Contacts", "Broadcasts", "Templates"} {
		c.goTo(strings.ToLower(heading), heading)
		c.WaitFor(`document.querySelector(".empty")?.textContent.includes("No number connected") && document.querySelector(".empty a") !== null`)
	}
	c.Find("heading", "No number connected")
	eval[any](c.window, `void document.querySelector(".empty a").click()`)
	c.heading("Numbers")
	c.calm()
}

// linksLeadEverywhere begins at the inbox, where somebody has written.
func linksLeadEverywhere(c *colleague) {
	c.is.Equal(c.links("Main"), []string{"Inbox", "Contacts", "Broadcasts", "Templates", "Rules", "Numbers", "Customers", "Reports", "Costs", "Webhooks", "Log", "Settings"})
	c.WaitFor(`document.title === "(1) Inbox · confab"`)
	c.is.Equal(c.Describe("link", "Inbox").Description, "1 unread") // the count is no part of the name
	c.shoot("frame-inbox")

	for _, name := range []string{"Contacts", "Broadcasts", "Templates", "Rules", "Numbers", "Customers", "Reports", "Costs", "Webhooks", "Log"} {
		c.Click("link", name)
		c.heading(name)
		c.is.Equal(c.at(), strings.ToLower(name))
		c.WaitFor(`document.title === "(1) ` + name + ` · confab"`)
		c.is.Equal(eval[string](c.window, `document.querySelector("[aria-current=page]").textContent`), name)
		c.is.Equal(eval[string](c.window, `document.activeElement.tagName`), "H1") // who listens hears where one is
	}
	c.Click("link", "Settings")
	c.heading("People")
	c.is.Equal(c.at(), "settings/people")
	c.is.Equal(c.links("Settings"), []string{"People", "API keys", "Labels", "Quick replies", "Notifications", "Profile", "Health"})
	for _, name := range []string{"API keys", "Labels", "Quick replies", "Notifications", "Profile", "Health", "People"} {
		c.Click("link", name)
		c.heading(name)
	}
	c.calm()
}

// historyAndAddressesLeadBack begins at the people, whom one has come to from the page of health.
func historyAndAddressesLeadBack(c *colleague) {
	eval[any](c.window, `void history.go(-1)`)
	c.heading("Health")
	eval[any](c.window, `void history.go(1)`)
	c.heading("People")
	c.is.Equal(eval[float64](c.window, `performance.getEntriesByType("navigation").length + performance.getEntriesByName("reload").length`), 1.0) // never loaded anew
	c.Do(chromedp.Reload())
	c.heading("People")
	c.Click("link", "Inbox") // the frame's addresses hold, however deep one is
	c.heading("Inbox")
	c.Do(chromedp.NavigateBack())
	c.heading("People")

	c.open("nothing", "Page not found")
	c.goTo("settings", "People")
	c.goTo("settings/nothing", "Page not found")
	c.open("inbox/cnv_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Inbox")
	c.calm("status of 404")
}

func keysDoWithoutAMouse(c *colleague) {
	c.Press("g", "s")
	c.heading("People")
	c.Press("?")
	c.Find("dialog", "Keyboard shortcuts")
	c.shoot("shortcuts")
	c.Press("g", "c") // not while a dialog is open
	c.Focus("checkbox", "Single-key shortcuts")
	c.Press(" ", kb.Escape)
	c.Gone("dialog", "Keyboard shortcuts")
	c.Press("g", "c")
	c.heading("People") // switched off
	c.Do(chromedp.Reload())
	c.heading("People")
	c.Press("g", "c")
	c.heading("People") // and remembered

	// Ctrl-K stays.
	c.jump("log", "Log")
	c.jump("keyb", "")
	c.Focus("checkbox", "Single-key shortcuts")
	c.Press(" ", kb.Escape)
	c.Gone("dialog", "Keyboard shortcuts")
	c.Press("g", "c")
	c.heading("Contacts")

	c.jump("api k", "API keys")
	c.Do(chromedp.KeyEvent(kb.Tab)) // from the heading on: the first control of the screen
	c.is.Equal(eval[string](c.window, `document.activeElement.textContent`), "New key")
	c.Press("g", "c") // a button is no text
	c.heading("Contacts")
	c.calm()
}

// jump types into the jump box and opens the first that it finds.
func (c *colleague) jump(words, heading string) {
	c.t.Helper()
	c.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	c.WaitFor(`document.activeElement.matches("dialog[open] [role=combobox]")`)
	c.Do(command(input.InsertText, input.InsertTextParams{Text: words}))
	c.WaitFor(`document.querySelector("dialog [role=option]") !== null`) // numbers may not have been read yet
	c.Press(kb.Enter)
	c.WaitFor(`document.querySelector("dialog .jump-box") === null`)
	if heading != "" {
		c.heading(heading)
	}
}

func anyIDOpensItsScreen(c *colleague, number string) {
	const id = "01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	c.jump(" "+number+" ", c.stage.phoneOf(number))
	c.is.Equal(c.at(), "numbers/"+number)
	c.jump("msg_"+id, "Trace")
	c.is.Equal(c.at(), "trace/msg_"+id)

	for given, path := range map[string]string{
		"evt_" + id: "trace/evt_" + id, "req_" + id: "log/req_" + id, "cnv_" + id: "inbox/cnv_" + id, "ctc_" + id: "contacts/ctc_" + id,
		"bcs_" + id: "broadcasts/bcs_" + id, "tmpl_" + id: "templates/tmpl_" + id, "cus_" + id: "customers/cus_" + id, "wbs_" + id: "webhooks/wbs_" + id,
		"wbd_" + id: "deliveries/wbd_" + id, "lbl_" + id: "settings/labels", "key_" + id: "settings/keys", "qrp_" + id: "settings/quick-replies",
		"ses_" + id: "settings/profile", "aud_" + id: "log/audit", "acc_" + id: "numbers/acc_" + id, "csl_" + id: "customers", "sec_" + id: "webhooks", "imp_" + id: "contacts",
		"not_" + id: "inbox", "viw_" + id: "inbox?view=viw_" + id,
		"med_" + id: "inbox", "org_" + id: "settings/people", "team_" + id: "settings/people", "msg_" + id: "trace/msg_" + id,
		id: "settings/people/" + id,
	} {
		c.jump(given, "")
		c.WaitFor(`location.pathname + location.search === "/console/` + path + `"`)
	}
	c.Click("button", "Search or jump to")
	for _, none := range []string{"msg_", "../../../evil", "msg_" + id + "/../x"} {
		c.Fill("combobox", "Search or jump to", none)
		c.WaitFor(`document.querySelector(".jump-none").textContent === "No results. You can also paste any id to open it." && document.querySelectorAll("dialog [role=option]").length === 0`)
	}
	c.Press(kb.Escape)
	c.Gone("dialog", "Search or jump to")
	c.calm("status of 404")
}

// peopleAreFoundByName finds Ana, as the API does.
func peopleAreFoundByName(c *colleague, contact string) {
	// A key's character is sent on its own, to what has the focus then: not to the button, which
	// has it again when the dialog before is away.
	c.WaitFor(`document.querySelector("dialog") === null`)
	eval[any](c.window, `void document.activeElement.blur()`)
	c.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	c.Find("dialog", "Search or jump to")
	c.Press("Ana")
	c.Find("option", "Ana Ruiz Contact")
	c.shoot("jump")
	c.Press(kb.ArrowUp)
	c.is.Equal(c.Describe("option", "Ana Ruiz Contact").Properties["selected"], "true")
	c.Press(kb.Enter)
	c.heading("Ana Ruiz")
	c.is.Equal(c.at(), "contacts/"+contact)
	c.Gone("dialog", "Search or jump to")
	c.calm("status of 404") // of the screen before
}

func theServerIsMissed(c *colleague) {
	c.goTo("settings/labels", "Labels")
	c.Find("heading", "No labels yet")
	c.offline(true)
	// The notice moves the page below it.
	c.WaitFor(`document.querySelector(".connection").textContent.includes("Reconnecting… your text is safe")`)
	c.Click("link", "API keys")
	c.Find("heading", "Can’t reach the server")
	c.shoot("offline")
	c.offline(false)
	c.Find("table", "API keys") // by itself, without a reload
	c.Gone("button", "Try now")
	c.calm("ERR_INTERNET_DISCONNECTED")
}

func theAccountMenuChangesTheTheme(c *colleague) {
	c.is.Equal(c.Describe("button", "Account").Description, "Mira Kovač Acme")
	c.Click("button", "Account")
	c.is.Equal(c.All("menuitem"), []string{"Profile", "Sessions", "Keyboard shortcuts", "API reference", "Sign out"})
	c.is.Equal(c.All("menuitemradio"), []string{"System", "Light", "Dark"})
	c.is.Equal(c.Describe("menuitem", "Keyboard shortcuts").Description, "?")
	c.shoot("account")
	c.Click("menuitemradio", "Dark")
	ground := `getComputedStyle(document.querySelector("main")).backgroundColor`
	c.WaitFor(ground + ` === "rgb(20, 27, 24)"`)
	c.Do(chromedp.Reload())
	c.heading("API keys")
	c.is.Equal(eval[string](c.window, ground), "rgb(20, 27, 24)")
	c.Click("button", "Account")
	c.Click("menuitemradio", "System")
	c.WaitFor(ground + ` === "rgb(255, 255, 255)"`)
	c.Do(c.Prefers("prefers-color-scheme", "dark"))
	c.WaitFor(ground + ` === "rgb(20, 27, 24)"`)
	c.calm()
}

func theAccountMenuSignsOut(c *colleague) {
	c.Click("button", "Account")
	c.Click("menuitem", "Sign out")
	c.Find("heading", "Sign in")
	c.Visit(c.stage.app.URL() + "/console/settings/keys")
	c.Find("heading", "Sign in")
	c.calm("status of 401") // of what was being read when the session ended
}
