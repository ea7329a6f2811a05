package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
)

// count waits until a tab of the inbox has a count, which is no part of its name.
func (c *colleague) count(tab, count string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.getElementById("count-%s").textContent === %q`, strings.ToLower(tab), count))
	c.is.Equal(c.Describe("tab", tab).Description, count)
}

// An inbox is empty, then its list is narrowed, in one window.
func TestTheListIsNarrowed(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.console(t, storage.RoleAdmin)
	number, ana := c.saysThatThereIsNoNumber()
	c.calm()
	vip := c.narrowsByTabs(number, ana)
	c.narrowsByLabel(vip)
	c.searches(number)
	c.calm("status of 404")
}

// saysThatThereIsNoNumber lets a number be connected in the end, to which somebody writes.
func (c *colleague) saysThatThereIsNoNumber() (number, ana string) {
	s := c.stage
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

	number = s.connect()
	c.Find("heading", "Nobody has written yet")
	c.shoot("inbox-nobody")
	ana = s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have the vase in blue?"))
	c.showsRows("Ana Ruiz")
	for _, request := range c.Requests() {
		if strings.Contains(strings.TrimPrefix(request, "http://"), "//") || strings.Contains(request, "undefined") {
			c.t.Errorf("the console asked for %s", request)
		}
	}
	return number, ana
}

func (c *colleague) narrowsByTabs(number, ana string) (vip string) {
	s := c.stage
	vip = s.label("VIP")
	bo := s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	s.says(number, "15550003333", "Cleo", textOf("thanks"))
	dan := s.says(number, "15550004444", "Dan", textOf("a blue box"))
	at := s.app.URL() + "/v1/" + number + "/conversations/"
	s.call("POST", at+bo+"/labels", `{"label_id":"`+vip+`"}`)
	s.call("PATCH", at+dan, `{"status":"resolved"}`)
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
	c.is.Equal(c.Describe("link", "Inbox").Description, "2 unread")

	// A row says what was said last, how far it came, when, whose it is, and how long there is to answer.
	c.Focus("textbox", "Message")
	c.Press("We do", "\r")
	row := func(test string) {
		c.t.Helper()
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
	c.is.Equal(s.conversation(number, ana)["unread_count"], 0.0)
	return vip
}

func (c *colleague) narrowsByLabel(vip string) {
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
}

// The results replace the list, in any tab, and lead to the message.
func (c *colleague) searches(number string) {
	s := c.stage
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

	// They keep their names when the list is read again, as it is when somebody is renamed.
	cleo := s.conversation(number, eval[string](c.window, `location.pathname.split("/").at(-1)`))["contact"].(map[string]any)["id"].(string)
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/contacts/"+cleo, `{"name":"Cleo Maas"}`)
	c.Find("region", "Conversation with Cleo Maas")
	c.showsRows("Dan", "Ana Ruiz")
	c.Click("link", "Dan")
	c.Find("region", "Conversation with Dan")
	c.WaitFor(fmt.Sprintf(`document.querySelector("article[aria-current=true]").id === %q`, found.Data[0]["id"]))
	c.showsRows("Dan", "Ana Ruiz")
	c.Fill("searchbox", "Search messages", "nowhere to be found")
	c.Find("heading", "No results")
	c.Fill("searchbox", "Search messages", "")
	c.showsRows("Ana Ruiz")

	// It is read on where pages are not full, as those with filters are when their time is up.
	eval[any](c.window, `void (real => (window.fetch = (at, ...more) => real(String(at).replace("limit=50", "limit=1"), ...more)))(fetch)`)
	c.Click("tab", "All")
	c.showsRows("Ana Ruiz", "Dan", "Cleo Maas", "Bo Berg")
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
	ada, colleague := s.joined("ada@example.com", storage.RoleAgent)
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+ana, `{"assigned_to":"`+colleague.ID+`"}`)
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
	s.says(number, "15550001111", "Ana Ruiz", textOf("to Ada")) // a colleague's, who reads it
	c.is.Equal(ada.do("POST", number+"/conversations/"+ana+"/read", "").status/100, 2)
	s.says(number, "15550002222", "Cleo", textOf("in the background"))
	c.WaitFor(`beeps === 2 && JSON.stringify(told) === '["Cleo: in the background"]'`)
	c.WaitFor(`document.title === "(1) Inbox · confab"`) // the badge, always

	c.openAddress("contacts")
	c.heading("Contacts")
	s.says(number, "15550003333", "Dan", textOf("on another screen"))
	c.WaitFor(`told.at(-1) === "Dan: on another screen"`)
	c.WaitFor(`document.title === "(2) Contacts · confab"`)
	eval[any](c.window, `void last.onclick()`)
	c.hide(false)
	c.Find("region", "Conversation with Dan")
	c.is.Equal(s.conversation(number, ana)["assignee"].(map[string]any)["name"], "Ada Lovelace")
	c.calm("status of 404")

	// A browser that has no notifications of pages, as on phones, keeps the connection.
	eval[any](c.window, `void (addEventListener("error", () => (globalThis.failed = true)),
		globalThis.Notification = class { static permission = "granted"; constructor() { throw new TypeError("Illegal constructor") } })`)
	c.hide(true)
	s.says(number, "15550004444", "Eva", textOf("on a phone"))
	c.WaitFor(`globalThis.failed`)
	c.showsRows("Eva", "Dan", "Cleo", "Ana Ruiz")
	_, requests := c.news()
	c.is.True(!slices.ContainsFunc(requests, func(url string) bool { return strings.Contains(url, "api/stream") }))
}
