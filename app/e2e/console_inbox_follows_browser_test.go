package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// The open conversation is read again after a break, also where the list does not show it any more.
func TestTheOpenConversationFollowsAfterABreak(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.offline(true)
	c.Find("button", "Try now")
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+ana, `{"status":"resolved"}`)
	c.offline(false)
	c.Find("button", "Reopen")
	c.showsRows()
	c.calm("ERR_INTERNET_DISCONNECTED")
}

// A contact that a colleague deletes is gone from the screen of who reads it.
func TestADeletedPersonsThreadIsGone(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	contact := s.conversation(number, ana)["contact"].(map[string]any)["id"].(string)
	s.exchange("DELETE", s.app.URL()+"/v1/"+number+"/contacts/"+contact, "")
	c.Find("heading", "Not found")
	c.showsRows()
	c.calm("status of 404")
}

// A label that is renamed has its new name; one that is deleted leaves the rows, the thread and the filter.
func TestADeletedLabelLeavesTheInbox(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	vip := s.label("VIP")
	s.call("POST", s.app.URL()+"/v1/"+number+"/conversations/"+ana+"/labels", `{"label_id":"`+vip+`"}`)
	s.says(number, "15550002222", "Bo", textOf("hello"))
	c := s.consoleAt(t, storage.RoleAgent, "inbox/"+ana+"?label="+vip, "Inbox")
	c.Find("button", "Remove label VIP")
	s.call("PATCH", s.app.URL()+"/v1/labels/"+vip, `{"name":"Regular"}`)
	c.Find("button", "Remove label Regular")
	c.showsRows("Ana Ruiz")
	s.exchange("DELETE", s.app.URL()+"/v1/labels/"+vip, "")
	c.Gone("button", "Remove label Regular")
	c.showsRows("Bo", "Ana Ruiz")
	c.is.Equal(c.Find("combobox", "Filter by label").Value, "Any label")
	c.is.Equal(c.at(), "inbox/"+ana)
	c.calm()
}

// What begins with a / and goes on with other words is a message like any other.
func TestAMessageMayBeginWithASlash(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "A$$AP $& Rocky", textOf("hi"))
	s.call("POST", s.app.URL()+"/v1/quick_replies", `{"shortcut":"start","text":"Hi {{name}}, how are you?"}`)
	c := s.console(t, storage.RoleAgent)
	c.openConversation("A$$AP $& Rocky")
	c.Focus("textbox", "Message")
	c.Press("/start")
	c.Find("listbox", "Quick replies")
	c.Press(" does not work")
	c.Gone("listbox", "Quick replies")
	c.Press(kb.Enter)
	c.state("/start does not work", "read")

	// A quick reply is inserted beside the text, with the name as it is.
	c.Fill("textbox", "Message", "/etc/hosts, see: ")
	c.Click("button", "Quick replies")
	c.Click("option", "/start Hi {{name}}, how are you?")
	c.written("/etc/hosts, see: Hi A$$AP $& Rocky, how are you?")
	c.calm("status of 404")
}

// The window closes on the second, whether or not the time that is shown has moved on.
func TestTheComposerClosesWithTheWindow(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	eval[any](c.window, `void (() => { for (let i = 0; i < 9999; i++) clearInterval(i) })()`)
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE conversations SET last_inbound_at = ?`, storage.Now().Add(2*time.Second-24*time.Hour))
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+ana, `{"status":"pending"}`)
	c.Find("button", "Choose a template")
	c.calm()
}

// A reaction that is refused says so, and does not wait where no one sees it.
func TestARefusedReactionIsTold(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err == nil {
			err = tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, "Removed.")
		}
		return err
	})
	c.onArticle("hi", "React")
	c.Click("button", "❤️")
	c.WaitFor(`document.querySelector(".toast.bad") !== null`)
	c.is.Equal(eval[int](c.window, `Object.keys(localStorage).filter(k => k.startsWith("confab.outbox")).length`), 0)
	c.calm("status of 4")
}

// A reaction that the provider refuses later is in the thread, with the reason.
func TestAReactionThatFailedLaterIsTold(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	s.fault(`{"kind":"error_code","code":131026,"async":true,"times":1,"to":"15550001111"}`)
	c.onArticle("hi", "React")
	c.Click("button", "❤️")
	c.article("Reacted ❤️")
	c.article("(131026)")
	c.shoot("inbox-reaction-failed")

	// Sent again, it is where reactions are.
	eval[any](c.window, `void [...document.querySelectorAll("article.failed button")].find(b => b.textContent === "Send again").click()`)
	c.WaitFor(`document.querySelector(".reactions")?.textContent.includes("❤️")`)
	c.calm()
}

// The line is before the first unread message, also when a page holds fewer.
func TestTheUnreadLineStandsBeforeManyUnread(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("seen"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.article("seen")
	c.Click("link", "Contacts")
	c.heading("Contacts")
	for i := range 45 {
		s.says(number, "15550001111", "Ana Ruiz", textOf(fmt.Sprintf("news %d.", i)))
	}
	c.Click("link", "Inbox")
	c.openConversation("Ana Ruiz")
	c.article("news 0.")
	c.WaitFor(`document.querySelector(".unread-line")?.parentElement.textContent.includes("news 0.")`)
	c.calm()
}

// What waits for its time is at the end, and makes nothing before it new.
func TestAScheduledMessageMakesNothingNew(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("first"))
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	s.send(number, "+15550001111", `"type":"text","text":{"body":"tomorrow"},"scheduled_at":"`+later+`"`)
	for i := range 12 {
		s.says(number, "15550001111", "Ana Ruiz", textOf(strings.Repeat("a line\n", 12)+fmt.Sprint(i, ".")))
	}
	c := s.console(t, storage.RoleAgent)
	c.openAddress("inbox/" + ana)
	c.article("tomorrow")
	c.WaitFor(`(l => { l.scrollTop = l.scrollHeight; return l.scrollHeight - l.scrollTop - l.clientHeight < 2 })(document.querySelector("[role=log]"))`)
	eval[any](c.window, `void (document.querySelector("[role=log]").scrollTop -= 900)`)
	c.Find("button", "Newest messages")
	c.is.True(!eval[bool](c.window, `document.querySelector(".to-newest .chip") !== null`))
	c.calm()
}

// A list that somebody has scrolled in stays where it is when the connection is back.
func TestAScrolledListStaysAfterABreak(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.fill(number, 300, 1)
	c := s.console(t, storage.RoleAgent)
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
	c.calm()
}

// showsList waits until the list has rows.
func (c *colleague) showsList() {
	c.t.Helper()
	c.WaitFor(`document.querySelectorAll(".conversations a").length > 0`)
}

// The box for searching shows the current search, and / leads to it from a thread too.
func TestTheSearchBoxFollowsTheAddress(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hello"))
	c := s.console(t, storage.RoleAgent)
	box := `document.querySelector("#search-messages")`
	c.Fill("searchbox", "Search messages", "hello ")
	c.WaitFor(`location.search === "?search=hello"`)
	c.is.Equal(eval[string](c.window, box+`.value`), "hello ") // typing is not disturbed
	c.Click("tab", "All")
	c.WaitFor(box + `.value === "" && location.search === "?tab=all"`)
	c.Do(chromedp.EmulateViewport(360, 740))
	c.openAddress("inbox/" + ana)
	c.article("hello")
	c.Press(kb.Escape, "/")
	c.WaitFor(`document.activeElement === ` + box)
	c.calm()
}

// Who saves one field in the details leaves the others to those who changed them meanwhile.
func TestDetailsSendOnlyWhatWasTyped(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.Fill("textbox", "Email", "ana@example.com")
	contact := s.app.URL() + "/v1/" + number + "/contacts/" + s.conversation(number, ana)["contact"].(map[string]any)["id"].(string)
	s.call("PATCH", contact, `{"name":"Ana Nueva"}`)
	c.WaitFor(`document.querySelector(".details input[name=name]").value === "Ana Nueva"`)
	c.Click("button", "Save")
	c.toast("Saved")
	now := s.call("GET", contact, "")
	c.is.Equal(now["name"], "Ana Nueva")
	c.is.Equal(now["email"], "ana@example.com")
	c.calm()
}
