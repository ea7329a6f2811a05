package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
)

// count waits until a tab of the inbox has a count, which is no part of its name.
func (c *colleague) count(tab, count string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.getElementById("count-%s").textContent === %q`, strings.ToLower(tab), count))
	c.is.Equal(c.Find("tab", tab).Description, count)
}

func TestTabsFilterAndSearchNarrowTheList(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	vip := s.label("VIP")
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have the vase in blue?"))
	bo := s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	s.says(number, "15550003333", "Cleo", textOf("thanks"))
	dan := s.says(number, "15550004444", "Dan", textOf("a blue box"))
	at := s.app.URL() + "/v1/" + number + "/conversations/"
	s.call("POST", at+bo+"/labels", `{"label_id":"`+vip+`"}`)
	s.call("PATCH", at+dan, `{"status":"resolved"}`)
	c := s.console(t, storage.RoleAdmin)
	c.showsRows("Cleo", "Bo Berg", "Ana Ruiz")
	for _, width := range []int64{320, 360, 800, 1000, 1280} { // no tab is cut, nor covered
		c.Do(chromedp.EmulateViewport(width, 800))
		c.WaitFor(`(p => p.width > 0 && [...document.querySelectorAll(".list-pane :is([role=tab], select)")].every(t => t.getBoundingClientRect().right <= p.right))(document.querySelector(".list-pane").getBoundingClientRect())`)
		c.WaitFor(`(f => [...document.querySelectorAll("[role=tab]")].every(t => (t = t.getBoundingClientRect()).right <= f.left || t.bottom <= f.top))(document.querySelector(".list-pane select").getBoundingClientRect())`)
	}
	c.openConversation("Ana Ruiz")
	c.Do(chromedp.EmulateViewport(360, 740))
	c.Find("button", "Resolve") // an icon, with its name
	for _, name := range []string{"Reply", "React", "More"} {
		c.Find("button", name)
	}
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.Click("button", "Assign to me")
	for tab, count := range map[string]string{"Open": "3", "Mine": "1", "Unassigned": "2", "Unread": "2", "Resolved": "1", "All": "4"} {
		c.count(tab, count)
	}
	c.WaitFor(`document.title === "(2) Ana Ruiz · confab"`)
	c.is.Equal(c.Find("link", "Inbox").Description, "2 unread")

	// A row says what was said last, how far it came, when, whose it is, and how long there is to answer.
	c.Focus("textbox", "Message")
	c.Press("We do", "\r")
	row := func(test string) {
		t.Helper()
		c.WaitFor(`(li => ` + test + `)([...document.querySelectorAll("[aria-label=Conversations] li")].find(li => li.querySelector("a").textContent === "Ana Ruiz"))`)
	}
	row(`li.querySelector(".row-last").textContent.includes("You: We do") && li.querySelector(".row-last .tick .unseen").textContent === "read"`)
	row(`!isNaN(Date.parse(li.querySelector("time").dateTime)) && li.querySelector("time").title.includes(":")`)
	row(`li.querySelector(".face.tiny").textContent === "MK" && li.querySelector(".face.tiny").ariaLabel === "Assigned to Mira Kovač"`)
	row(`/^2[34] ?h/.test(li.querySelector(".window").textContent)`)
	for tab, rows := range map[string][]string{"Mine": {"Ana Ruiz"}, "Unassigned": {"Cleo", "Bo Berg"}, "Unread": {"Cleo", "Bo Berg"}, "Resolved": {"Dan"}, "All": {"Ana Ruiz", "Dan", "Cleo", "Bo Berg"}} {
		c.Click("tab", tab)
		c.showsRows(rows...)
	}
	c.Click("tab", "Unread")
	c.openConversation("Bo Berg")
	c.count("Unread", "1")
	c.showsRows("Cleo", "Bo Berg") // it stays while it is read
	c.openConversation("Cleo")
	c.showsRows("Cleo")
	c.pick("Filter by label", "VIP")
	c.Click("tab", "Open")
	c.showsRows("Bo Berg")
	c.WaitFor(`location.search === "?label=` + vip + `"`)
	c.WaitFor(`document.querySelectorAll(".row-labels .dot").length === 1`)
	c.pick("Filter by label", "Any label")

	// The results replace the list, in any tab, and lead to the message.
	var found struct{ Data []map[string]any }
	s.becomesTrue(func() bool {
		s.read("/"+number+"/messages?search=blue", &found)
		return len(found.Data) == 2
	})
	c.Click("tab", "Mine")
	c.Fill("searchbox", "Search messages", "blue")
	c.showsRows("Dan", "Ana Ruiz")
	c.WaitFor(`new URLSearchParams(location.search).get("search") === "blue"`)
	c.shoot("inbox-search")
	c.Click("link", "Dan")
	c.Find("region", "Conversation with Dan")
	c.WaitFor(fmt.Sprintf(`document.querySelector("article[aria-current=true]").id === %q`, found.Data[0]["id"]))
	c.showsRows("Dan", "Ana Ruiz")
	c.Fill("searchbox", "Search messages", "nowhere to be found")
	c.Find("heading", "No results")
	c.Fill("searchbox", "Search messages", "")
	c.showsRows("Ana Ruiz")
	c.is.Equal(s.conversation(number, ana)["unread_count"], 0.0)
	c.calm("status of 404")
}

func TestAnInboxWithoutANumberSaysSo(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.console(t, storage.RoleAdmin)
	c.Find("heading", "No number connected yet")
	c.shoot("inbox-no-number")
	c.Do(chromedp.EmulateViewport(360, 740))
	c.Find("heading", "No number connected yet") // on a small screen too
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.Click("tab", "All")
	c.reconnects()
	c.open("inbox/cnv_01JQ0Z8M4T9V2X3W5Y6A7B8C9D?search=blue", "Inbox")
	c.open("contacts", "Contacts")
	c.Find("heading", "No number connected")
	c.Click("link", "Inbox")
	c.Find("heading", "No number connected yet")

	number := s.connect()
	c.Find("heading", "Nobody has written yet")
	c.shoot("inbox-nobody")
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c.showsRows("Ana Ruiz")
	for _, request := range c.Requests() {
		if strings.Contains(strings.TrimPrefix(request, "http://"), "//") || strings.Contains(request, "undefined") {
			t.Errorf("the console asked for %s", request)
		}
	}
	c.calm()
}

// hide puts the tab into the background, as far as the page can see, or in front again.
func (c *colleague) hide(yes bool) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void (Object.defineProperty(document, "hidden", { configurable: true, get: () => %t }), document.dispatchEvent(new Event("visibilitychange")))`, yes))
}

// A sound and a notification come for what concerns the person while the tab is not in
// front, on every screen, once they are switched on.
func TestNewMessagesAreToldInTheBackground(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	bo := s.joins(t, "Bo Berg", "bo@example.com")
	bo.openConversation("Ana Ruiz")
	bo.Click("button", "Assign to me")
	bo.Gone("button", "Assign to me")
	c := s.joins(t, "Mira Kovač", "mira@example.com")
	eval[any](c.window, `void (globalThis.told = [], globalThis.beeps = 0,
		globalThis.AudioContext = class extends AudioContext { constructor() { super(); beeps++ } },
		globalThis.Notification = class {
			static permission = "granted";
			static async requestPermission() { return "granted" }
			constructor(title, { body }) { told.push(title + ": " + body); globalThis.last = this }
			close() {}
		})`)
	c.showsRows("Ana Ruiz")
	c.hide(true)
	s.says(number, "15550002222", "Cleo", textOf("while it is off"))
	c.showsRows("Cleo", "Ana Ruiz")
	c.hide(false)
	c.Click("button", "Notifications")
	c.shoot("inbox-notifications")
	c.Click("menuitemcheckbox", "Sound for new messages")
	c.Click("button", "Notifications")
	c.Click("menuitemcheckbox", "Browser notifications")
	c.WaitFor(`beeps === 1 && localStorage["confab.notifications"] === "on"`) // as a sample
	eval[any](c.window, `void (new BroadcastChannel("confab /console/ " + JSON.parse(document.body.dataset.start).user.id).onmessage =
		({ data }) => (globalThis.heard ??= data.event === "message.received" || undefined))`)
	s.says(number, "15550002222", "Cleo", textOf("in front"))
	c.WaitFor(`globalThis.heard`)
	c.hide(true)
	s.says(number, "15550001111", "Ana Ruiz", textOf("to Bo")) // a colleague's
	s.says(number, "15550002222", "Cleo", textOf("in the background"))
	c.WaitFor(`beeps === 2 && JSON.stringify(told) === '["Cleo: in the background"]'`)
	c.WaitFor(`document.title === "(1) Inbox · confab"`) // the badge, always; Bo reads his own

	c.openAddress("contacts")
	c.heading("Contacts")
	s.says(number, "15550003333", "Dan", textOf("on another screen"))
	c.WaitFor(`told.at(-1) === "Dan: on another screen"`)
	c.WaitFor(`document.title === "(2) Contacts · confab"`)
	eval[any](c.window, `void last.onclick()`)
	c.hide(false)
	c.Find("region", "Conversation with Dan")
	c.is.Equal(s.conversation(number, ana)["assignee"].(map[string]any)["name"], "Bo Berg")
	c.calm("status of 404")
}

// What comes is read only when somebody really has it on screen.
func TestATabInTheBackgroundReadsNothing(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	s.becomesTrue(func() bool { return s.conversation(number, ana)["unread_count"] == 0.0 })
	c.WaitFor(`document.querySelector(".row.current b.count") === null`)
	c.hide(true)
	s.says(number, "15550001111", "Ana Ruiz", textOf("anybody there?"))
	c.article("anybody there?")
	c.WaitFor(`document.querySelector(".row.current b.count")?.textContent === "1"`)
	c.is.Equal(s.conversation(number, ana)["unread_count"], 1.0)
	c.hide(false)
	s.becomesTrue(func() bool { return s.conversation(number, ana)["unread_count"] == 0.0 })
	c.calm("status of 404")
}
