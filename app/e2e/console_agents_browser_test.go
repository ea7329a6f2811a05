package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
)

// TestWhatAgentsUse is about the screens of somebody who is no admin, in one window.
func TestWhatAgentsUse(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAgent, "numbers", "Numbers")
	agentsSeeWhatTheyMayUse(c)
	agentsReadAboutANumber(c, number)
	agentsReadTemplates(c, number)
	agentsKeepContactsButDeleteNone(c, number)
	aListIsNarrowedBeforeItIsThere(c, number)

	quickRepliesAreMadeChangedAndDeleted(c)
	aPersonChangesItsProfile(c)
	thoseToAssignToFollowWhatChanges(c, number)
	theNumberIsChosenAmongSeveral(c, number)
}

func agentsSeeWhatTheyMayUse(c *colleague) {
	c.is.Equal(c.links("Main"), []string{"Inbox", "Contacts", "Templates", "Numbers", "Settings"})
	c.Click("link", "Settings")
	c.heading("Profile")
	c.is.Equal(c.links("Settings"), []string{"Quick replies", "Notifications", "Profile"})
	for _, path := range []string{"settings/people", "settings/keys", "webhooks", "log", "phone", "rules", "templates/new"} {
		c.goTo(path, "Page not found")
		c.goTo("numbers", "Numbers")
	}
	c.open("log", "Page not found") // nor by its address
	c.Press("g", "w")               // no shortcut leads there
	c.Press("g", "c")
	c.heading("Contacts")
	c.calm()
}

// agentsReadAboutANumber shows what became of messages and when one is open, and nothing to change it.
func agentsReadAboutANumber(c *colleague, number string) {
	s := c.stage
	for range 2 {
		s.await(number, s.send(number, "+1999000131026", `"type":"text","text":{"body":"Hello"}`), isStatus("failed"))
	}
	s.call("PUT", s.app.URL()+"/v1/"+number+"/hours", `{"timezone":"Europe/Madrid","weekly":{"mon":[["09:15","12:30"],["14:00","24:00"]]}}`)
	c.goTo("numbers/"+number, s.phoneOf(number))
	c.row("131026", "2")
	c.shows("09:15-12:30, 14:00-24:00")
	c.Gone("textbox", "Monday")
	for _, name := range c.All("button") {
		c.is.True(name != "Connect again" && name != "Check now" && name != "Disconnect")
	}
	c.calm()
}

func agentsReadTemplates(c *colleague, number string) {
	c.stage.storeTemplate(number, storage.Template{Name: "welcome", Language: "en_US", Status: storage.TemplateApproved, Category: "UTILITY", Content: "Welcome here.",
		Components: storage.JSON(`[{"type":"BODY","text":"Welcome here."}]`)})
	c.goTo("templates", "Templates")
	c.row("welcome")
	c.Gone("button", "Sync")
	c.Gone("button", "New template")
	c.Click("link", "welcome")
	c.heading("welcome")
	c.Gone("button", "Delete")
	c.Gone("link", "Edit")
	c.calm()
}

// theNumberIsChosenAmongSeveral connects a second number, on which somebody writes.
func theNumberIsChosenAmongSeveral(c *colleague, first string) {
	s := c.stage
	second := s.connect()
	s.heard(second, `"type":"text","text":{"body":"hi"}`)
	c.open("", "Inbox")
	c.Find("combobox", "Number")
	got := eval[[]string](c.window, `[...document.querySelectorAll("#number option")].map(o => o.value)`)
	slices.Sort(got)
	want := []string{first, second}
	slices.Sort(want)
	c.is.Equal(got, want)
	c.shoot("numbers")
	for number, title := range map[string]string{second: "(1) Inbox · confab", first: "Inbox · confab"} {
		eval[any](c.window, `void (e => { e.value = "`+number+`"; e.dispatchEvent(new Event("change")) })(document.querySelector("#number select"))`)
		c.WaitFor(`document.title === "` + title + `"`)
		c.Do(chromedp.Reload())
		c.WaitFor(fmt.Sprintf(`document.title === %q && document.querySelector("#number select").value === %q`, title, number)) // remembered
	}
	c.calm("status of 404") // a conversation of one number is looked for at the other
}
