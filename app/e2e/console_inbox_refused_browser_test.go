package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// restrict lets the provider restrict a number, or lift that.
func (s *stage) restrict(number string, restricted bool) {
	s.t.Helper()
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		if restricted {
			return tx.SetRestricted(a.ID, true)
		}
		return tx.SetRestricted(a.ID, false)
	})
}

// What cannot be sent is said before one writes, and what was written is kept.
func (c *desk) saysWhatCannotBeSent() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001112", "Mia Wolf", textOf("Where is my parcel?"))
	c.Fill("textbox", "Message", "It left this morning")

	s.changeOrganization(func(o *storage.Organization) { o.SuspendedAt = s.app.DB.Now() })
	c.shows("This number can’t send right now. Your organization is suspended. Contact the operator of this server.")
	c.shows("Your draft is kept: It left this morning")
	c.WaitFor(`document.querySelector(".connection").textContent.includes("Your organization is suspended.")`)
	s.changeOrganization(func(o *storage.Organization) { o.SuspendedAt = 0 })
	c.hide(false) // looks again at once
	c.written("It left this morning")
	c.WaitFor(`document.querySelector(".connection").textContent === ""`)

	s.restrict(number, true)
	c.shows("This number can’t send right now. The provider has restricted it.")
	c.Gone("textbox", "Message")
	c.shows("Your draft is kept: It left this morning")
	c.WaitFor(`document.querySelector(".list-pane .notice")?.textContent.includes("The provider has restricted it.")`)
	c.shoot("inbox-restricted")

	// Resolving it asks first.
	c.Click("button", "Resolve")
	c.Find("dialog", "Resolve with an unsent message?")
	c.shoot("inbox-resolve-unsent")
	c.Click("button", "Cancel")
	c.is.Equal(s.conversation(number, conversation)["status"], "open")

	s.restrict(number, false)
	c.written("It left this morning")
	c.WaitFor(`document.querySelector(".list-pane .notice") === null`)
	c.Click("textbox", "Message")
	c.Press(kb.Enter)
	c.state("It left this morning", "read")
	c.Click("button", "Resolve")
	c.Find("button", "Reopen")
	c.is.Equal(s.conversation(number, conversation)["status"], "resolved")
}

// A text that is refused all the same is a draft again, with the reason, also after a reload.
func (c *desk) makesARefusedTextADraft() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001118", "Gil", textOf("Where is my parcel?"))
	c.answerSends(400, "recipient_unavailable")
	c.release()
	c.Fill("textbox", "Message", "It left this morning")
	c.Press(kb.Enter)
	c.shows("Not sent: this number can’t be reached.")
	c.written("It left this morning")
	c.is.True(eval[bool](c.window, `document.querySelector("[id^=outbox]") === null`))
	c.shoot("inbox-refused")

	c.Visit(s.app.URL() + "/console/inbox/" + conversation)
	c.shows("Not sent: this number can’t be reached.")
	c.written("It left this morning")
	c.Click("textbox", "Message")
	c.Press(kb.Enter)
	c.state("It left this morning", "read")
	c.is.Equal(len(s.outbound(number, conversation)), 1)
}

// That somebody takes no marketing is said when such a template is chosen, and not after it was sent.
func TestATemplateThatAPersonDoesNotTakeIsNotSent(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("No more offers, please"))
	contact := s.conversation(number, ana)["contact"].(map[string]any)["id"].(string)
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.MarkOptedOut(contact) })

	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.Click("button", "Templates")
	c.Click("button", "news")
	c.shows("This person opted out of marketing messages.")
	c.shoot("inbox-template-refused")
	c.Click("button", "Send template")
	c.Find("dialog", "Choose a template")
	c.is.Equal(len(s.outbound(number, ana)), 0)
	c.calm()
}
