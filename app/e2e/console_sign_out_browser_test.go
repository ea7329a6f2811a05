package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// keptWords counts what the browser keeps of what somebody wrote.
const keptWords = `Object.keys(localStorage).filter(k => k.includes("outbox") || k.includes("draft")).length`

// TestSigningOut does so again and again, in one window of an agent.
func TestSigningOut(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	c := s.console(t, storage.RoleAgent)
	discardedMessagesAreNotSent(c, number, ana)
	c.open("", "Inbox")
	signingOutAsksBeforeUnsentMessagesGo(c)

	c.signIn("agent@example.com")
	c.Find("searchbox", "Search messages")
	signingOutTakesWhatWasWrittenAway(c)
}

// What somebody wrote and did not send is not left in a browser for the next person who uses it.
func signingOutTakesWhatWasWrittenAway(c *colleague) {
	c.openConversation("Ana Ruiz")
	c.Fill("textbox", "Message", "Half a sente")
	c.openConversation("Bo Berg")
	c.Fill("textbox", "Message", "And another")
	c.WaitFor(keptWords + ` === 2`)
	eval[bool](c.window, `(localStorage.setItem("confab.draft.somebody-else.cnv_1", "theirs"), true)`)
	c.Click("button", "Account")
	c.Click("menuitem", "Sign out")
	c.Find("heading", "Sign in")
	c.WaitFor(keptWords + ` === 1`) // that of somebody else, who may come back to it
	c.WaitFor(`localStorage.getItem("confab.draft.somebody-else.cnv_1") === "theirs"`)
	c.calm("status of 401") // of what was asked a moment before
}

// What waits to be sent is not thrown away unasked.
func signingOutAsksBeforeUnsentMessagesGo(c *colleague) {
	c.openConversation("Ana Ruiz")
	c.offline(true)
	c.Fill("textbox", "Message", "Sent in another")
	c.Press(kb.Enter)
	c.state("Sent in another", "queued")
	c.Click("button", "Account")
	c.Click("menuitem", "Sign out")
	c.Find("dialog", "Sign out with unsent messages?")
	c.offline(false)
	c.Click("button", "Discard and sign out")
	c.Find("heading", "Sign in")
	c.WaitFor(keptWords + ` === 0`)
	c.calm("ERR_INTERNET_DISCONNECTED", "status of 401") // of what was asked a moment before
}

// What somebody discards is not sent, neither while it is asked nor afterwards, and is not
// written back.
func discardedMessagesAreNotSent(c *colleague, number, ana string) {
	c.openConversation("Ana Ruiz")
	c.answerSends(503, "unavailable")
	c.release()
	c.Fill("textbox", "Message", "Sent in a tunnel")
	c.Press(kb.Enter)
	c.WaitFor(`tries === 1`)
	ask := func() {
		c.Click("button", "Account")
		c.Click("menuitem", "Sign out")
		c.Find("dialog", "Sign out with unsent messages?")
	}
	ask()
	c.answerSends(200, "")
	c.release()
	c.offline(true)
	c.offline(false) // all that waits is sent when the connection is back
	c.WaitFor(`document.querySelector(".connection").textContent === ""`)
	eval[any](c.window, `new Promise((resolve) => setTimeout(resolve, 2500))`) // and again after two seconds
	c.is.Equal(eval[int](c.window, `tries`), 0)

	// Whoever stays goes on.
	c.Click("button", "Cancel")
	c.state("Sent in a tunnel", "read")

	// Of what is on its way nothing is kept, whatever becomes of it.
	c.answerSends(400, "recipient_unavailable")
	c.Fill("textbox", "Message", "Never mind")
	c.Press(kb.Enter)
	c.WaitFor(`tries === 1`)
	ask()
	eval[any](c.window, `void (HTMLFormElement.prototype.submit = () => {})`)
	c.Click("button", "Discard and sign out")
	c.Gone("dialog", "Sign out with unsent messages?")
	c.release()
	eval[any](c.window, `new Promise((resolve) => setTimeout(resolve, 200))`)
	c.is.Equal(eval[int](c.window, keptWords), 0)
	c.is.Equal(len(c.stage.outbound(number, ana)), 1)
	c.calm("ERR_INTERNET_DISCONNECTED", "status of 404")
}
