package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/matryer/is"
)

// colleagueOf opens a second window of the sandbox, at the inbox.
func (c *colleague) colleagueOf(t *testing.T) *colleague {
	t.Helper()
	other := &colleague{window: openWindow(t), t: t, is: is.New(t), stage: c.stage}
	other.Do(chromedp.EmulateViewport(1280, 800))
	other.open("inbox", "Inbox")
	return other
}

// sendTemplate sends a template without parameters from the inbox.
func (c *colleague) sendTemplate(name string) {
	c.t.Helper()
	c.Click("button", "Templates")
	c.Click("button", name)
	c.Click("button", "Send template")
	c.Gone("dialog", "Choose a template")
}

// traced follows a message from its bubble and goes back: the titles on its line of time.
func (c *colleague) traced(id, heading string, wanted int) []string {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.getElementById(%q) !== null`, id))
	eval[any](c.window, fmt.Sprintf(`void [...document.getElementById(%q).querySelectorAll("button")].find(b => b.textContent === "More").click()`, id))
	c.Click("menuitem", "Trace")
	c.heading(heading)
	c.is.Equal(c.at(), "trace/"+id)
	c.Find("list", "What happened, oldest first")
	c.WaitFor(fmt.Sprintf(`document.querySelectorAll(".trace-step").length >= %d`, wanted))
	steps := c.steps()
	c.Do(chromedp.NavigateBack())
	c.Find("region", "Conversation with Ana Ruiz")
	return steps
}

// TestAConversationWithOneself is the story of a sandbox, through its screens, in two windows: a customer
// writes on the phone, the inbox answers with buttons, the phone taps one, a fault
// fails the next send, it is sent again, the customer stops marketing, and the trace of
// each message is complete.
func TestAConversationWithOneself(t *testing.T) {
	parallelBrowser(t)
	c, number := phone(t, reachable)
	s := c.stage
	hook := newReceiver(t, nil)
	s.subscribe(hook.URL, `"*"`)
	s.template(number, "which_one", `[{"type":"BODY","text":"Which one?"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"The blue one"},{"type":"QUICK_REPLY","text":"The sand one"}]}]`)
	s.call("POST", s.app.URL()+"/v1/"+number+"/templates", `{"name":"spring","language":"en_US","category":"MARKETING","components":[{"type":"BODY","text":"Everything is half the price."}]}`)
	s.awaitApproval(number, "spring")

	// A person is made, and writes.
	c.Find("heading", "No people yet")
	c.Find("region", "Provider")
	c.Click("button", "New person")
	c.Fill("textbox", "Name", "Ana Ruiz")
	c.Fill("textbox", "Number", "+15550001111")
	c.Click("button", "Save")
	c.Find("region", "Phone of Ana Ruiz")
	c.is.Equal(c.at(), "phone/15550001111")
	c.Fill("textbox", "Write as Ana Ruiz", "Do you have it in blue?")
	c.Click("button", "Send as Ana Ruiz")
	c.last("Do you have it in blue?")
	c.WaitFor(`document.querySelector("textarea").value === ""`)

	// The inbox answers with buttons; the phone taps one.
	inbox := c.colleagueOf(t)
	inbox.openConversation("Ana Ruiz")
	inbox.article("Do you have it in blue?")
	inbox.sendTemplate("which_one")
	inbox.state("Which one?", "read")
	c.Find("button", "The sand one")
	c.Click("button", "The blue one")
	c.last("The blue one")
	inbox.article("The blue one")

	// The next send fails, and only that one; it is sent again from its bubble.
	c.Click("switch", "error_code")
	s.becomesTrue(func() bool { // the switch moves before the provider has heard of it
		return strings.Contains(string(s.exchange("GET", s.simURL+"/_sim/faults", "")), `"code":131026`)
	})
	inbox.Fill("textbox", "Message", "It is 20 €.")
	inbox.Press(kb.Enter)
	inbox.state("It is 20 €.", "failed")
	inbox.article("this number can’t be reached (131026)")
	c.WaitFor(`!document.querySelector("[aria-describedby=about-error_code]").checked`) // used up
	c.WaitFor(`[...document.querySelectorAll(".provider-calls code")].some((one) => one.textContent.includes("/provider/webhook"))`)
	c.is.True(!slices.ContainsFunc(c.phoneShows(), func(b phoneBubble) bool { return b.Text == "It is 20 €." }))
	inbox.onArticle("It is 20 €.", "Send again")
	inbox.state("It is 20 €.", "read")
	c.last("It is 20 €.")

	// Who stops marketing gets none, and everything else.
	c.Click("switch", "Marketing")
	s.becomesTrue(func() bool { return s.everyContact(number)[0]["marketing_opted_out"] == true })
	inbox.Click("button", "Templates")
	inbox.Click("button", "spring")
	inbox.shows("This person opted out of marketing messages.")
	inbox.Press(kb.Escape)
	inbox.Gone("dialog", "Choose a template")
	c.is.Equal(len(s.phoneHolds("15550001111")), 4) // it never reached the provider
	inbox.Fill("textbox", "Message", "As you like.")
	inbox.Press(kb.Enter)
	c.last("As you like.")
	inbox.state("As you like.", "read")

	// The trace of each is complete, to the endpoint that got every event.
	in := []string{"Sent by the contact", "Callback received, stored", "Event message.received"}
	out := []string{"POST /console/api/v1/" + number + "/messages", "Stored, queued", "Sent to the provider, attempt 1", "Event message.sent"}
	heard := append(slices.Clone(out), "Callback: sent", "Event message.status", "Callback: delivered", "Event message.status", "Callback: read", "Event message.status")
	failed := append(slices.Clone(out), "Callback: failed", "Event message.status")
	story := []struct {
		preview string
		steps   []string
	}{
		{"Do you have it in blue?", in}, {"Which one?", heard}, {"The blue one", in}, {"It is 20 €.", failed}, {"It is 20 €.", heard}, {"As you like.", heard},
	}
	ids := eval[[]string](inbox.window, `[...document.querySelectorAll("article[id^=msg_]")].map(a => a.id)`)
	c.is.Equal(len(ids), len(story))
	for i, one := range story {
		reported := len(slices.DeleteFunc(slices.Clone(one.steps), func(step string) bool { return !strings.HasPrefix(step, "Event") }))
		steps := inbox.traced(ids[i], "“"+one.preview+"”", len(one.steps)+reported)
		is := func(step string) bool { return "http://"+step == hook.URL }
		c.is.Equal(slices.DeleteFunc(slices.Clone(steps), is), one.steps)
		c.is.Equal(len(steps), len(one.steps)+reported) // each event was delivered
	}

	c.shoot("phone")
	c.fits()
	c.calm()
	inbox.calm("status of 422")
}
