package e2e

import (
	"fmt"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestABroadcastIsMadeInThreeStepsAndWatched(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Hello {{1}}, something is new here.","example":{"body_text":[["Ana"]]}}]}`)
	s.awaitApproval(number, "news")
	label := s.label("Regulars")
	for i := range 5 {
		id := s.contact(number, fmt.Sprintf("+1555000111%d", i), fmt.Sprintf("Person %d", i))
		s.call("POST", s.app.URL()+"/v1/"+number+"/contacts/"+id+"/labels", `{"label_id":"`+label+`"}`)
		if i == 0 {
			storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.MarkOptedOut(id) })
		}
	}
	c := s.consoleAt(t, storage.RoleAdmin, "broadcasts", "Broadcasts")
	c.Find("heading", "No broadcasts yet")
	c.shoot("broadcasts-none")
	c.Click("button", "New broadcast")
	c.heading("New broadcast")

	// What: a template, its fields and its preview.
	c.Click("button", "Next")
	c.shows("Give it a name, choose a template")
	c.Fill("textbox", "Name", "Spring "+markup)
	c.pick("Template", "news (en)")
	c.Fill("textbox", "{{1}}", "{{name}}")
	c.previews("Hello {{name}}, something is new here.")
	c.shoot("broadcast-template")
	c.fits()
	c.Click("button", "Next")

	// To whom: how many, and who will be skipped and why.
	c.Click("button", "Next")
	c.shows("Choose whom it goes to.")
	c.pick("Label", "Regulars")
	c.shows("5 people")
	c.shows("1 stopped marketing messages")
	c.shoot("broadcast-audience")
	c.fits()
	c.Click("button", "Next")

	// When, after a test to a number that one types.
	c.Fill("textbox", "Phone number", "nonsense")
	c.Click("button", "Send test")
	c.WaitFor(`document.querySelector("#broadcast-to").ariaInvalid === "true"`)
	c.Fill("textbox", "Phone number", "+15550009999")
	c.Click("button", "Send test")
	c.toast("Sent to +15550009999")
	c.shoot("broadcast-when")
	c.fits()
	c.Click("button", "Start broadcast")
	c.heading("Spring " + markup)
	c.unharmed()

	// It is watched while it runs, to its end.
	c.WaitFor(`document.querySelector("h1").parentNode.textContent.includes("completed")`)
	c.WaitFor(`[...document.querySelectorAll(".funnel > div")].map(d => d.querySelector("dt").textContent + d.querySelector("dd").textContent).join() === "Sent4,Delivered4,Read4,Failed0,Skipped1,Waiting0"`)
	c.row("marketing opted out", "1")
	c.row("+15550001114", "read")
	c.shoot("broadcast")
	c.fits()
	c.pick("Status", "skipped")
	c.row("+15550001110", "skipped", "marketing opted out")
	c.Gone("button", "Pause")
	eval[any](c.window, `void (HTMLAnchorElement.prototype.click = function () { window.saved = this.href })`)
	c.Click("button", "Export")
	c.is.Equal(eval[float64](c.window, `fetch(window.saved).then(r => r.text()).then(t => t.trim().split("\n").length)`), 6.0)

	// The trace of one of its messages leads back to it.
	id, _, _ := strings.Cut(strings.TrimPrefix(c.at(), "broadcasts/"), "?")
	var sent struct {
		Data []struct {
			MessageID string `json:"message_id"`
		}
	}
	s.read("/"+number+"/broadcasts/"+id+"/recipients?status=read", &sent)
	c.Visit(s.app.URL() + "/console/trace/" + sent.Data[0].MessageID)
	c.Click("link", "Spring "+markup)
	c.heading("Spring " + markup)
	c.calm("status of 400")
}

func TestABroadcastIsPausedResumedAndCancelled(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.atProvider(number, `{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	c := s.consoleAt(t, storage.RoleAdmin, "broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "Later")
	c.pick("Template", "news (en)")
	c.Click("button", "Next")
	c.Click("radio", "These numbers One a line, 10,000 at most.")
	c.Fill("textbox", "Numbers", "+1 555 000 1111\n+1 5\n")
	c.shows("“+15” is no phone number.")
	c.Click("button", "Next")
	c.Find("textbox", "Numbers") // it stays here
	c.Fill("textbox", "Numbers", "+1 555 000 1111\n+15550002222\n+15550001111")
	c.shows("2 people")
	c.shows("1 there twice")
	c.Click("button", "Next")
	c.Click("radio", "Later")
	eval[any](c.window, `void ((e, t) => { e.value = new Date(t - new Date(t).getTimezoneOffset() * 60000).toISOString().slice(0, 16); e.dispatchEvent(new Event("input", { bubbles: true })) })(document.querySelector("[type=datetime-local]"), Date.now() + 86400000)`)
	c.Click("button", "Schedule broadcast")
	c.heading("Later")
	c.shows("scheduled")
	c.Click("button", "Pause")
	c.shows("Paused by hand.")
	c.shoot("broadcast-paused")
	c.Click("button", "Resume")
	c.Find("button", "Pause")
	c.Click("button", "Cancel")
	c.Find("dialog", "Cancel Later?")
	c.shows("2 people who still wait will not get it.")
	c.Click("button", "Cancel broadcast")
	c.shows("cancelled")
	c.open("broadcasts", "Broadcasts")
	c.row("Later", "cancelled", "0 of 2")
	c.shoot("broadcasts")
	c.fits()
	c.pick("Status", "running")
	c.shows("No broadcast is like this.")
	c.calm()
}

func TestAnAudienceIsWhatIsShown(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Something is new."}]}`)
	s.awaitApproval(number, "news")
	s.label("Nobody")
	c := s.consoleAt(t, storage.RoleAdmin, "broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "Spring")
	c.pick("Template", "news (en)")
	c.Click("button", "Next")

	// A file is forgotten by its field, and so by the broadcast.
	c.Click("radio", "The lines of a CSV file As a spreadsheet saves it. One column has phone numbers; the others are fields.")
	c.chooseFile("people.csv", "phone_number\n+15550001111\n+15550002222\n")
	c.shows("2 people")
	c.Click("radio", "Everybody with a label")
	c.Click("radio", "The lines of a CSV file As a spreadsheet saves it. One column has phone numbers; the others are fields.")
	c.Click("button", "Next")
	c.shows("Choose whom it goes to.")

	// A label and numbers are there again, with how many they are.
	c.Click("radio", "Everybody with a label")
	c.pick("Label", "Nobody")
	c.shows("0 people")
	c.Click("radio", "These numbers One a line, 10,000 at most.")
	c.Fill("textbox", "Numbers", "+15550001111")
	c.shows("1 person")
	c.Click("radio", "Everybody with a label")
	c.shows("0 people")
	c.Click("button", "Next")
	c.shows("Nobody is there to send it to.")
	c.Click("radio", "These numbers One a line, 10,000 at most.")
	c.shows("1 person")
	c.Click("button", "Next")
	c.Find("button", "Start broadcast")
	c.calm()
}

// awaitApproval waits until the provider has approved a template.
func (s *stage) awaitApproval(number, name string) {
	s.t.Helper()
	s.becomesTrue(func() bool {
		s.call("POST", s.app.URL()+"/v1/"+number+"/templates/sync", "{}")
		return s.call("GET", s.app.URL()+"/v1/"+number+"/templates/"+name, "")["status"] == "approved"
	})
}
