package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// keptWords counts what the browser keeps of what somebody wrote.
const keptWords = `Object.keys(localStorage).filter(k => k.includes("outbox") || k.includes("draft")).length`

// What somebody wrote and did not send is not left in a browser for the next person who uses it.
func TestSigningOutTakesWhatWasWrittenAway(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	c := s.console(t, storage.RoleAgent)
	write := func() {
		c.openConversation("Ana Ruiz")
		c.Fill("textbox", "Message", "Half a sente")
		c.openConversation("Bo Berg")
		c.Fill("textbox", "Message", "And another")
		c.WaitFor(keptWords + ` === 2`)
	}
	write()
	eval[bool](c.window, `(localStorage.setItem("confab.draft.somebody-else.cnv_1", "theirs"), true)`)
	c.Click("button", "Account")
	c.Click("menuitem", "Sign out")
	c.Find("heading", "Sign in")
	c.WaitFor(keptWords + ` === 1`) // that of somebody else, who may come back to it
	c.WaitFor(`localStorage.getItem("confab.draft.somebody-else.cnv_1") === "theirs"`)
	c.calm("status of 401") // of what was asked a moment before
}

// What waits to be sent is not thrown away unasked.
func TestSigningOutAsksBeforeUnsentMessagesGo(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.says(s.connect(), "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.offline(true)
	c.Fill("textbox", "Message", "Sent in a tunnel")
	c.Press(kb.Enter)
	c.state("Sent in a tunnel", "queued")
	c.Click("button", "Account")
	c.Click("menuitem", "Sign out")
	c.Find("dialog", "Sign out with unsent messages?")
	c.offline(false)
	c.Click("button", "Discard and sign out")
	c.Find("heading", "Sign in")
	c.WaitFor(keptWords + ` === 0`)
	c.calm("ERR_INTERNET_DISCONNECTED", "status of 401") // of what was asked a moment before
}
