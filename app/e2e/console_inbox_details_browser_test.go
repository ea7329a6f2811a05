package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// What is known of a person, and where only one pane fits, in one window.
func TestDetailsLeadEverywhere(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.sharesFiles(number)
	s.invitePerson("bo@example.com", storage.RoleAgent)
	c := &desk{s.console(t, storage.RoleAdmin), number}
	c.openConversation("Ana Ruiz")
	c.showsFilesAndBroadcasts()
	c.calm("status of 404")
	c.forget()
	c.makesALabelWhereItIsNeeded()
	c.calm()
	c.isLedBackFromNowhere()
	c.calm("status of 404")
}

// sharesFiles lets somebody send files who has had a campaign.
func (s *stage) sharesFiles(number string) {
	s.t.Helper()
	s.says(number, "15550001111", "Ana Ruiz", `"type":"image","image":{"data":"`+dot+`","mime_type":"image/png"}`)
	s.says(number, "15550001111", "Ana Ruiz", `"type":"document","document":{"data":"`+base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 x"))+`","mime_type":"application/pdf","filename":"invoice `+strings.ReplaceAll(markup, `"`, `'`)+`.pdf"}`)
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("there you are"))
	s.send(number, "+15550001111", `"type":"image","image":{"link":"https://example.com/vase.jpg"}`) // which is no file of ours
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		c, err := tx.Conversation(account.ID, ana)
		if err != nil {
			return err
		}
		return tx.InsertMessage(&storage.Message{
			AccountID: c.AccountID, ConversationID: c.ID, ContactID: c.ContactID, Direction: storage.Outbound, Type: "template", Status: storage.MessageRead,
			Source: storage.SourceBroadcast, Content: storage.JSON(`{"name":"spring_sale","language":{"code":"en_US"}}`),
		})
	})
}

func (c *desk) showsFilesAndBroadcasts() {
	s, number := c.stage, c.number
	ana := strings.TrimPrefix(c.at(), "inbox/")
	c.Find("heading", "Shared files")
	c.WaitFor(`document.querySelectorAll(".shared a[download][href*='/media/']").length === 1`)
	c.WaitFor(`document.querySelector(".shared img").naturalWidth === 1`)
	for _, request := range c.Requests() {
		c.is.True(!strings.Contains(request, "undefined"))
	}
	c.Find("heading", "Earlier broadcasts")
	c.shows("spring_sale")
	c.shoot("inbox-details")
	c.Click("button", "Show Photo")
	c.Find("dialog", "Picture") // and no other tab
	c.Press(kb.Escape)

	// To somebody else, and to no one.
	c.Click("combobox", "Assignee")
	c.Find("dialog", "Assign")
	c.Press("bo@", kb.Enter)
	s.becomesTrue(func() bool { return s.conversation(number, ana)["assignee"] != nil })
	c.Find("image", "Assigned to Ada") // which the browser learns a moment later
	c.Click("combobox", "Assignee")
	c.Click("option", "Nobody")
	s.becomesTrue(func() bool { return s.conversation(number, ana)["assignee"] == nil })

	c.Click("link", "Trace the last message")
	c.heading("Image") // the campaign is not what was said last
	eval[any](c.window, `void history.back()`)
	c.Find("region", "Conversation with Ana Ruiz") // the trace leads to her too
	c.Find("heading", "Earlier broadcasts")        // nothing moves any more
	c.WaitFor(`document.querySelectorAll(".shared :is(a, button)").length === 2`)
	c.Click("link", "Open contact")
	c.heading("Ana Ruiz")
	c.WaitFor(`document.querySelectorAll("main a[href*='/media/']").length === 2`) // her page has them too
	c.shoot("contact-files")
	c.Click("link", "Open conversation")
	c.Find("region", "Conversation with Ana Ruiz")
}

// Who needs a label that is not there yet makes it there, and the conversation has it.
func (c *desk) makesALabelWhereItIsNeeded() {
	s, number := c.stage, c.number
	conversation := c.meets("15550002222", "Bo Berg", textOf("hi"))
	c.Click("button", "Add label")
	c.Find("group", "Labels")
	c.shows("No labels yet.")
	c.Click("button", "New label")
	c.Find("dialog", "New label")
	c.Click("button", "Cancel")
	c.Gone("dialog", "New label")
	c.Click("button", "New label")
	c.Find("dialog", "New label")
	c.Fill("textbox", "Name", "VIP")
	c.Click("button", "Create label")
	c.Find("button", "Remove label VIP")
	c.is.Equal(c.Describe("checkbox", "VIP").Properties["checked"], "true")
	s.becomesTrue(func() bool { return len(s.conversation(number, conversation)["labels"].([]any)) == 1 })
}

// Where only one pane fits, a conversation that is not there leads back to the list.
func (c *desk) isLedBackFromNowhere() {
	s, number := c.stage, c.number
	s.resolveAll(number)
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c.Do(chromedp.EmulateViewport(360, 740))
	c.openAddress("inbox/cnv_01KDYBMWFE00000000000000XX")
	c.Find("heading", "Not found")
	c.Click("link", "Back")
	c.showsRows("Ana Ruiz")
	c.Find("list", "Conversations")

	// Keys lead to what another pane covers.
	c.Do(chromedp.EmulateViewport(768, 740))
	c.openConversation("Ana Ruiz")
	c.Click("button", "Details")
	c.Press("r")
	c.WaitFor(`document.activeElement.ariaLabel === "Message"`)
	c.Press(kb.Escape, "/")
	c.WaitFor(`document.activeElement.id === "search-messages"`)
}

// Long lists and threads stay where somebody reads them, one after the other in one window.
func TestNothingMovesUnderWhoReads(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ids := s.fill(number, 300, 60)
	c := &desk{s.console(t, storage.RoleAgent), number}
	c.keepsItsPlaceInTheList()
	c.calm()
	c.keepsItsPlaceInTheThread(ids[0])
	c.calm("status of 404")
}

// A list that somebody has scrolled in stays where it is when the connection is back.
func (c *desk) keepsItsPlaceInTheList() {
	c.showsList()
	c.WaitFor(`(p => { p.scrollTop = 250 * 64; return p.scrollTop === 250 * 64 })(document.querySelector(".list-body .scroll"))`)
	first := `([...document.querySelectorAll(".conversations a")].find(a => a.getBoundingClientRect().top >= document.querySelector(".list-body .scroll").getBoundingClientRect().top)?.textContent ?? "")`
	c.WaitFor(first + ` !== ""`)
	seen := eval[string](c.window, first)
	pages := `performance.getEntriesByType("resource").filter(e => e.name.includes("/conversations?")).length`
	before := eval[int](c.window, pages)
	c.reconnects()
	c.WaitFor(fmt.Sprint(pages, " >= ", before+6)) // all that was shown is read again
	c.is.Equal(eval[string](c.window, first), seen)
}

// showsList waits until the list has rows.
func (c *colleague) showsList() {
	c.t.Helper()
	c.WaitFor(`document.querySelectorAll(".conversations a").length > 0`)
}

// What somebody reads further up stays where it is, and what comes is counted.
func (c *desk) keepsItsPlaceInTheThread(id string) {
	s, number := c.stage, c.number
	c.openAddress("inbox/" + id)
	c.article("line 59.")
	c.WaitFor(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.querySelector("[role=log]"))`)
	middle := `(l => { const r = l.getBoundingClientRect(); const a = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2).closest("div.turn"); return a.textContent + Math.round(a.getBoundingClientRect().top) })(document.querySelector("[role=log]"))`
	eval[any](c.window, `void (document.querySelector("[role=log]").scrollTop -= 900)`)
	c.Find("button", "Newest messages")
	before := eval[string](c.window, middle)
	for i := range 3 {
		s.says(number, "16660000300", "Person 300", textOf(fmt.Sprintf("news %d.", i)))
	}
	c.WaitFor(`document.querySelector(".to-newest .chip")?.textContent === "3 new"`)
	c.is.Equal(eval[string](c.window, middle), before)
	c.shoot("inbox-thread-new")
	c.is.Equal(s.conversation(number, id)["unread_count"], 3.0) // no one has seen them
	c.Click("button", "Newest messages")
	c.WaitFor(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.querySelector("[role=log]"))`)
	s.becomesTrue(func() bool { return s.conversation(number, id)["unread_count"] == 0.0 })
}
