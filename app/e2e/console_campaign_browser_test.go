package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/matryer/is"

	"confab/storage"
)

// Somebody new opens a sandbox and has fifty people in a spreadsheet, of whom two have
// no number. Only the screens say what to do.
func TestANewcomerBroadcastsToASpreadsheet(t *testing.T) {
	parallelBrowser(t)
	s := startKillable(t)
	c := &colleague{window: openWindow(t), t: t, is: is.New(t)}
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.Visit("http://" + s.listen + "/")
	c.heading("Inbox")
	c.Click("link", "Broadcasts")
	c.heading("Broadcasts")
	c.Click("button", "New broadcast")
	c.heading("New broadcast")
	c.Fill("textbox", "Name", "Hello")
	c.pick("Template", "spring_offer (en_US)")
	c.Fill("textbox", "{{1}}", "{{First name}}")
	c.Click("button", "Next")
	c.Click("radio", "The lines of a CSV file")
	c.chooseFile("people.csv", "Whose\r\nAna\r\n")
	c.shows("Rename the one that has them")
	file := "\ufeffFirst name;Phone;E-mail\r\n"
	for n := range 48 {
		file += fmt.Sprintf("Zoë %d;+1 (555) 777-%04d;\r\n", n, n)
	}
	c.chooseFile("people.csv", file+"Nobody;;\r\nNo one;;\r\n")
	c.shows("50 people")
	c.shows("2 without a valid phone number")
	c.shoot("newcomer-audience")
	c.Click("button", "Next")
	c.Click("radio", "Later")
	c.Click("button", "Next")
	c.shows("Choose a time.")
	c.Click("radio", "Now")
	c.Click("button", "Next")
	c.shows("48 of 50 people will get it")
	c.shows("Zoë 0")
	c.shoot("newcomer-review")
	c.Click("button", "Start broadcast")
	c.heading("Hello")
	c.WaitFor(`document.querySelector("h1").parentNode.textContent.includes("completed")`)
	c.WaitFor(`document.querySelector(".funnel").textContent.replace(/\s/g, "").includes("Skipped2Waiting0")`)
	c.row("Without a valid phone number", "2")
	c.WaitFor(`document.querySelectorAll("table[aria-label=Recipients] tbody tr").length === 50`)
	c.shoot("newcomer-result")
	c.fits()
	c.Visit("http://" + s.listen + "/console/broadcasts")
	c.heading("Broadcasts")
	c.row("Hello", "completed")
	c.is.Equal(len(c.Errors()), 0)
}

// TestMessagesAreSentLaterAndFound is in the inbox, in one window of an admin.
func TestMessagesAreSentLaterAndFound(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have the lamp in sapphire?"))
	s.says(number, "15550002222", "Bo Berg", textOf("Hello"))
	c := s.console(t, storage.RoleAdmin)
	aMessageIsSentLater(c, number)
	aMessageIsFoundInItsThread(c)
	aSearchMarksWordsAndFoldsACampaign(c, number)
}

// aMessageIsSentLater to Ana Ruiz, and is not.
func aMessageIsSentLater(c *colleague, number string) {
	s := c.stage
	c.openConversation("Ana Ruiz")
	c.Fill("textbox", "Message", "It comes tomorrow.")
	c.Click("button", "Send later")
	c.Find("dialog", "Send later")
	c.shoot("send-later")
	c.Click("button", "Tomorrow at 9")
	c.state("It comes tomorrow.", "scheduled")
	c.WaitFor(`document.querySelector("textarea").value === ""`)
	c.shoot("inbox-scheduled")
	c.fits()
	s.becomesTrue(func() bool {
		var waiting struct{ Data []map[string]any }
		s.read("/"+number+"/messages?scheduled=true", &waiting)
		return len(waiting.Data) == 1
	})

	// It can still be stopped.
	c.isTaken("It comes tomorrow.")
	c.onArticle("It comes tomorrow.", "More")
	c.Click("menuitem", "Cancel sending")
	c.state("It comes tomorrow.", "failed")
	c.calm()
}

// What somebody said is found, and marked in its thread.
func aMessageIsFoundInItsThread(c *colleague) {
	c.openConversation("Bo Berg")
	c.Fill("searchbox", "Search messages", "LAMP sapph")
	c.showsRows("Ana Ruiz")
	c.shoot("inbox-search")
	c.fits()
	c.Click("link", "Ana Ruiz")
	c.Find("region", "Conversation with Ana Ruiz")
	c.article("sapphire")
	c.is.True(strings.Contains(c.at(), "message=msg_"))
	c.shoot("inbox-found")
	c.Fill("searchbox", "Search messages", "nothing of the kind")
	c.shows("No results")
	c.calm()
}

// Who looks for "spring" wants a person of that name first, and what people said; not each
// copy of a campaign.
func aSearchMarksWordsAndFoldsACampaign(c *colleague, number string) {
	s := c.stage
	s.atProvider(number, `{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Our spring lamps are here."}]}`)
	s.awaitApproval(number, "news")
	s.says(number, "15550004441", "Zoë Springer", textOf("Hello"))
	s.says(number, "15550002222", "Bo Berg", textOf("I have looked at all the pages of your catalogue, and want to know when the Sprîng lamps come"))
	s.call("POST", s.app.URL()+"/v1/"+number+"/broadcasts", `{"name":"April","template":{"name":"news","language":"en"},"audience":{"recipients":[{"to":"+15550003331"},{"to":"+15550003332"},{"to":"+15550003333"}]}}`)
	found := func() int {
		var all struct{ Data []map[string]any }
		s.read("/"+number+"/messages?search=spring", &all)
		return len(all.Data)
	}
	s.becomesTrue(func() bool { return found() == 4 })

	c.Fill("searchbox", "Search messages", "spring")
	c.showsRows("Zoë Springer", "April", "Bo Berg")
	c.WaitFor(`[...document.querySelectorAll("[aria-label=Conversations] mark")].map(m => m.textContent).join() === "Springer,spring,Sprîng"`)
	c.shows("Broadcast · 3 copies")
	c.WaitFor(`[...document.querySelectorAll(".row-last")].at(-1).textContent.startsWith("…")`) // a line of a long message
	c.shoot("inbox-search-marks")
	c.fits()
	c.Click("link", "Zoë Springer")
	c.Find("region", "Conversation with Zoë Springer")
	c.Click("link", "Bo Berg")
	c.Find("region", "Conversation with Bo Berg")
	c.is.True(strings.Contains(c.at(), "message=msg_"))
	c.Click("link", "April")
	c.heading("April")
	c.calm()
}
