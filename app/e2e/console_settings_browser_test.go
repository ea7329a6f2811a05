package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// shown is what the page shows once to be copied: the texts on grounds of their own.
func (c *colleague) shown() []string {
	c.t.Helper()
	return eval[[]string](c.window, `[...document.querySelectorAll("dialog .copyable.block code")].map(e => e.textContent)`)
}

// keepsNowhere waits until a secret that was shown is in no place where it could be found.
func (c *colleague) keepsNowhere(secret string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`!(document.documentElement.textContent + JSON.stringify(localStorage) + location.href).includes(%q)`, secret))
}

// toast waits until the console has said something since the last click, and dismisses it: the same
// may soon be said of something else.
func (c *colleague) toast(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`(said => {
		said?.parentNode.querySelector("button:last-child").click();
		return said !== undefined;
	})([...document.querySelectorAll(".toast:not([data-earlier]) p")].find(t => t.textContent === %q))`, text))
}

// row waits for a row of a table with these texts, and returns it.
func (c *colleague) row(texts ...string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("tbody tr")].some(r => { const t = [...r.cells].map(c => c.textContent); return %s.every(w => t.some(x => x.includes(w))) })`, jsStrings(texts)))
}

func jsStrings(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// keyStatus is what the API answers to a key.
func (s *stage) keyStatus(key string) int {
	s.t.Helper()
	req, err := http.NewRequest("GET", s.app.URL()+"/v1/me", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestPeopleAndTeams is about who works here, in one window of an admin.
func TestPeopleAndTeams(t *testing.T) {
	parallelBrowser(t)
	c := newStage(t).consoleAt(t, storage.RoleAdmin, "settings/people", "People")
	tomas := somebodyIsInvitedAndJoins(c)
	sessionsAreEndedAndAccessIsTaken(c, tomas)
	aTeamIsMade(c)
	peopleBelongToTeams(c)
	numbersBelongToTeams(c)
	namesOfPeopleAreText(c)
}

// somebodyIsInvitedAndJoins ends on the page of Tomas, whose browser it returns.
func somebodyIsInvitedAndJoins(c *colleague) *browser {
	c.row("Mira Kovač", "admin@example.com", "Admin", "active")

	c.Click("button", "Invite")
	c.Find("dialog", "Invite to Acme")
	c.shoot("invite")
	c.Press(kb.Enter) // nothing is filled in
	c.is.Equal(c.Describe("textbox", "Name").Properties["invalid"], "true")
	c.Fill("textbox", "Name", "Tomas <b>Berg</b>")
	c.Fill("textbox", "Email", "no address")
	c.Click("button", "Create invitation")
	c.WaitFor(`document.querySelector("dialog input[name=email]").ariaInvalid === "true"`)
	c.is.True(strings.HasPrefix(c.Describe("textbox", "Email").Description, "Email must be"))
	c.Fill("textbox", "Email", "tomas@example.com")
	c.Click("button", "Create invitation")
	c.Find("button", "Copy link")
	c.shoot("invited")
	links := c.shown()
	c.Click("button", "Done")
	c.row("Tomas <b>Berg</b>", "tomas@example.com", "Agent", "invited")
	c.shoot("people")

	// The link works, in another browser.
	u, err := url.Parse(links[0])
	c.is.NoErr(err)
	tomas := c.stage.browser()
	c.is.Equal(tomas.open("POST", u.Path, url.Values{"name": {"Tomas Berg"}, "password": {goodPassword}}).status, 303)

	c.Do(chromedp.Reload())
	c.Click("link", "Tomas Berg")
	c.heading("Tomas Berg")
	c.row("Unknown browser", "127.0.0.1")
	c.Gone("combobox", "Team") // there is one only
	c.shoot("person")
	c.calm("status of 400")
	return tomas
}

// sessionsAreEndedAndAccessIsTaken is about Tomas, whose page is open.
func sessionsAreEndedAndAccessIsTaken(c *colleague, tomas *browser) {
	second := c.stage.browser()
	c.is.Equal(second.signIn("tomas@example.com", goodPassword).status, 303)
	c.WaitFor(`document.querySelectorAll("main table tbody tr").length === 2`) // by itself
	eval[any](c.window, `void [...document.querySelectorAll("main table button")].find(b => b.textContent === "End").click()`)
	c.toast("Session ended")
	c.WaitFor(`document.querySelectorAll("main table tbody tr").length === 1`)
	status, _ := tomas.me()
	c.is.Equal(status, 401) // the older one
	tomas = second
	c.Click("radio", "Admin")
	c.Click("button", "Save")
	c.toast("Saved")
	c.Click("button", "Sign out everywhere")
	c.toast("Signed out everywhere")
	status, _ = tomas.me()
	c.is.Equal(status, 401)
	c.Find("StaticText", "No active sessions.")

	c.Click("button", "New link")
	c.Find("dialog", "Sign-in link")
	c.is.True(strings.Contains(c.shown()[0], "/console/welcome/"))
	c.Click("button", "Done")
	c.Click("button", "Disable")
	c.Find("dialog", "Disable Tomas Berg?")
	c.shoot("disable")
	c.Click("button", "Disable")
	c.Gone("dialog", "Disable Tomas Berg?")
	c.Click("button", "Enable")
	c.Find("button", "Disable")

	// The last admin stays: the other one cannot sign in before its link is used.
	c.Click("link", "People")
	c.row("Tomas Berg", "Admin")
	c.Click("link", "Mira Kovač")
	c.heading("Mira Kovač")
	c.Gone("button", "Disable") // a person does not disable itself
	c.goTo("settings/people/01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Not found")
	c.calm("status of 400", "status of 404")
}

// hostileTexts are what strangers write.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{constructor.constructor("alert(1)")()}}`, "\u202eevil\u202c", "á̂̃̄̅", "مرحبا", strings.Repeat("W", 200), "javascript:alert(1)",
}

func namesOfPeopleAreText(c *colleague) {
	s := c.stage
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error {
		for _, name := range hostileTexts {
			u := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: name, Role: storage.RoleAgent}
			if err := tx.InsertUser(&u); err != nil {
				return err
			}
		}
		return nil
	})
	c.goTo("settings/people", "People")
	for _, name := range hostileTexts {
		c.row(name)
		c.follow(name)
		c.heading(name)
		c.is.True(strings.Contains(eval[string](c.window, `document.title`), regexp.MustCompile(`\s+`).ReplaceAllString(name, " ")))
		c.Do(chromedp.NavigateBack())
		c.heading("People")
	}
	c.fits()
	c.shoot("people-hostile")
	c.calm()
}

// TestLabelsAndOtherTextsThatPeopleKeep is in one window of an admin.
func TestLabelsAndOtherTextsThatPeopleKeep(t *testing.T) {
	parallelBrowser(t)
	c := newStage(t).consoleAt(t, storage.RoleAdmin, "settings/labels", "Labels")
	labelsAreMade(c)
	labelsAreChangedAndDeleted(c)
	whatPeopleKeepIsText(c)
}

func labelsAreMade(c *colleague) {
	c.Find("heading", "No labels yet")
	c.shoot("labels-none")
	hostile := "\u202e<img src=x onerror=alert(1)>"
	for _, name := range []string{"VIP", "waiting for delivery", hostile} {
		c.Click("button", "New label")
		c.Find("dialog", "New label")
		c.Fill("textbox", "Name", name)
		c.Click("radio", "violet")
		c.Click("button", "Create label")
		c.Gone("dialog", "New label")
		c.row(name)
	}
	c.Click("button", "New label")
	c.Fill("textbox", "Name", "vip")
	c.Press(kb.Enter)
	c.WaitFor(`document.querySelector("dialog input[name=name]").ariaInvalid === "true"`) // taken
	c.shoot("label-taken")
	c.Press(kb.Escape)
	c.Gone("dialog", "New label")
	c.WaitFor(`document.activeElement.textContent.includes("New label")`) // from where it was opened
	c.shoot("labels")
	c.calm("status of 400", "status of 409")
}

// labelsAreChangedAndDeleted is about the three that were made.
func labelsAreChangedAndDeleted(c *colleague) {
	s := c.stage
	// What changes elsewhere is read again, and leaves the keyboard where it is.
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error {
		return tx.InsertLabel(&storage.Label{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "from elsewhere", Color: "red"})
	})
	eval[any](c.window, `void (window.before = [...document.querySelectorAll("tr")].find(r => r.textContent.includes("VIP")).querySelector("button")).focus()`)
	c.row("from elsewhere")
	c.is.True(eval[bool](c.window, `document.activeElement === window.before`))

	c.edit("VIP", "Edit")
	c.Fill("textbox", "Name", "Very important")
	c.Press(kb.Enter)
	c.row("Very important")
	c.edit("Very important", "Delete")
	c.Find("dialog", "Delete “Very important”?")
	c.Click("button", "Delete")
	c.toast("Label deleted")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 3`)
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main img").length`), 0.0)
	c.calm()
}

// edit presses a button in the row of something.
func (c *colleague) edit(row, button string) {
	c.t.Helper()
	c.row(row)
	eval[any](c.window, fmt.Sprintf(`void [...[...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes(%q)).querySelectorAll("button")].find(b => b.textContent === %q).click()`, row, button))
	c.WaitFor(`document.querySelector("dialog[open]") !== null`)
}

func aPersonChangesItsProfile(c *colleague) {
	other := c.stage.browser()
	c.is.Equal(other.signIn("agent@example.com", goodPassword).status, 303)
	c.goTo("settings/profile", "Profile")
	c.row("Chrome on Linux", "this browser")
	c.shoot("profile")
	c.fits()

	c.Fill("textbox", "Name", "Mira K.")
	c.Click("button", "Save")
	c.toast("Saved")
	c.is.Equal(c.Describe("button", "Account").Description, "Mira K. Acme") // at once

	c.Fill("textbox", "Current password", "wrong password")
	c.Fill("textbox", "New password", "a new battery staple")
	c.Click("button", "Change password")
	c.WaitFor(`document.querySelector("[name=current_password]").ariaInvalid === "true"`)
	c.is.Equal(c.Describe("textbox", "Current password").Description, "Current password is wrong.")
	c.Fill("textbox", "Current password", goodPassword)
	c.Fill("textbox", "New password", "short")
	c.Click("button", "Change password")
	c.WaitFor(`document.querySelector("[name=password]").ariaInvalid === "true"`)
	c.Fill("textbox", "New password", "a new battery staple")
	c.Click("button", "Change password")
	c.toast("Password changed. You’re signed out everywhere else.")
	status, _ := other.me()
	c.is.Equal(status, 401)

	c.is.Equal(other.signIn("agent@example.com", "a new battery staple").status, 303)
	c.open("settings/profile?show=sessions", "Profile")
	c.row("Unknown browser")
	c.Click("button", "End")
	c.toast("Session ended")
	status, _ = other.me()
	c.is.Equal(status, 401)
	c.Click("radio", "Dark")
	c.WaitFor(`document.documentElement.dataset.theme === "dark"`)

	// Who sets a first password needs it for the next.
	storagetest.Exec(c.t, c.stage.app.Config.DataDir, `UPDATE users SET password_hash = NULL WHERE email = 'agent@example.com'`)
	c.stage.becomesTrue(func() bool { // sessions know their people for a moment
		return !eval[bool](c.window, `fetch("/console/api/profile").then(r => r.json()).then(all => all.data.has_password)`)
	})
	c.open("settings/profile", "Profile")
	c.Gone("textbox", "Current password")
	c.Fill("textbox", "New password", goodPassword)
	c.Click("button", "Change password")
	c.toast("Password changed. You’re signed out everywhere else.")
	c.Find("textbox", "Current password")
	c.calm("status of 400")
}

// follow follows the link with a name.
func (c *colleague) follow(name string) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void [...document.querySelectorAll("tbody a")].find(a => a.textContent === %q).click()`, name))
}

func quickRepliesAreMadeChangedAndDeleted(c *colleague) {
	c.goTo("settings/quick-replies", "Quick replies")
	c.Find("heading", "No quick replies yet")
	c.Click("button", "New quick reply")
	c.Find("dialog", "New quick reply")
	c.Fill("textbox", "Shortcut", "Not One")
	c.Fill("textbox", "Text", "Hello {{name}},\nwe are open from 9 to 5. <b>\u202e")
	c.Click("button", "Save")
	c.WaitFor(`document.querySelector("dialog [name=shortcut]").ariaInvalid === "true"`)
	c.is.True(strings.Contains(c.Describe("textbox", "Shortcut").Description, "Shortcut must"))
	c.Fill("textbox", "Shortcut", "hours")
	c.shoot("quick-reply-new")
	c.Click("button", "Save")
	c.toast("Saved")
	c.row("/hours", "Hello {{name}},\nwe are open from 9 to 5. <b>\u202e")
	c.shoot("quick-replies")
	c.edit("/hours", "Edit")
	c.Fill("textbox", "Text", "Closed.")
	c.Click("button", "Save")
	c.row("/hours", "Closed.")
	c.edit("/hours", "Delete")
	c.Find("dialog", "Delete /hours?")
	c.Click("button", "Delete")
	c.toast("Quick reply deleted")
	c.Find("heading", "No quick replies yet")
	c.fits()
	c.calm("status of 400")
}
