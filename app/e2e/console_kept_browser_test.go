package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// Who deletes a row by the keyboard goes on beside it.
func TestTheFocusStaysBesideARowThatIsGone(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	for _, name := range []string{"first", "second", "third"} {
		s.label(name)
	}
	c := s.consoleAt(t, storage.RoleAdmin, "settings/labels", "Labels")
	for _, one := range [][2]string{{"third", "second"}, {"second", "first"}} {
		gone, left := one[0], one[1]
		c.row(gone)
		eval[any](c.window, `void [...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes("`+gone+`")).querySelectorAll("button")[1].focus()`)
		c.Press(kb.Enter)
		c.WaitFor(`document.activeElement.textContent === "Cancel"`)
		c.Press(kb.Tab, kb.Enter)
		c.WaitFor(`document.activeElement.closest("tr")?.textContent.includes("` + left + `") && document.activeElement.textContent === "Edit"`)
	}
	c.calm()
}

// An address may hold what no text can be made of.
func TestAnAddressThatCannotBeReadSaysSo(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "contacts/%E0%A4", "Not found")
	c.open("%E0%A4", "Page not found")
	c.calm("status of 400", "status of 404")
}

// Names that are written from right to left are where all others are: beside their faces,
// and at the beginning of their columns.
func TestNamesFromRightToLeftStandInLine(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	id := s.says(number, "15550001111", "محمد علي", textOf("hi"))
	for _, name := range []string{"Bakery Nord", "مخبز"} {
		s.call("POST", s.app.URL()+"/v1/customers", `{"name":"`+name+`"}`)
	}

	const left = `(e => { const r = document.createRange(); r.selectNodeContents(e); return Math.round(r.getBoundingClientRect().left) })`
	c := s.console(t, storage.RoleAdmin)
	c.openAddress("inbox/" + id)
	c.Find("region", "Conversation with محمد علي")
	for _, width := range []int64{1280, 360} {
		c.Do(chromedp.EmulateViewport(width, 740))
		c.WaitFor(left + `(document.querySelector(".thread-name h2")) === ` + left + `(document.querySelector(".thread-name p"))`)
	}
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.open("customers", "Customers")
	c.row("مخبز")
	c.WaitFor(`new Set([...document.querySelectorAll("tbody td:first-child a")].map(` + left + `)).size === 1`)
	c.calm()
}

func TestHealthCountsOneMessageAsOne(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.send(s.connect(), "+15550001111", `"type":"text","text":{"body":"Hello"}`)
	c := s.console(t, storage.RoleAdmin)
	c.open("settings/health", "Health")
	c.text("1 message on the self_hosted plan, which has no limit.")
	c.calm()
}

// Forced colours remove every background: anything drawn by its
// background alone keeps its colours, or has a line around it.
func TestNothingIsDrawnByAForcedGround(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	number := s.connect()
	id := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAdmin)
	c.Do(c.Prefers("forced-colors", "active"))

	c.open("phone/15550001111", "Phone")
	c.Find("switch", "24-hour window open")
	c.WaitFor(`[...document.querySelectorAll(".switch")].every(e => getComputedStyle(e).backgroundColor !== getComputedStyle(document.body).backgroundColor)`)
	c.WaitFor(`getComputedStyle(document.querySelector("main select")).appearance === "auto"`)
	c.openAddress("inbox/" + id)
	c.article("hi")
	c.WaitFor(`getComputedStyle(document.querySelector(".bubble")).borderTopWidth === "1px"`)
	c.Press("?")
	c.Find("dialog", "Keyboard shortcuts")
	c.WaitFor(`getComputedStyle(document.querySelector("dialog")).borderTopWidth === "1px"`)
	c.calm()
}

// The longest of names leaves room for the messages.
func TestALongNameLeavesRoomForTheThread(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	id := s.says(s.connect(), "15550001111", strings.Repeat("W", 190), textOf("hi"))
	c := s.console(t, storage.RoleAdmin)
	c.openAddress("inbox/" + id)
	c.Find("complementary", "Details")
	c.WaitFor(`document.querySelector(".write-box textarea").offsetHeight < 50`)
	c.WaitFor(`document.querySelector(".person-name").offsetHeight < 100`)
	c.open("phone/15550001111", "Phone")
	c.WaitFor(`document.querySelector(".phone-compose textarea").offsetHeight < 50`)
	c.calm()
}

func TestAWebhookWithoutEventsHasNoEmptyCell(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.call("POST", s.app.URL()+"/v1/webhook_subscriptions", `{"url":"https://hooks.example.com","events":["message.received"]}`)
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks", "Webhooks")
	c.row("https://hooks.example.com", "active")
	c.WaitFor(`[...document.querySelectorAll("tbody td")].slice(2).every(td => td.textContent === "—")`)
	c.calm()
}

// What cannot be seen again is where the keyboard is.
func TestTheFocusGoesToWhatIsShownOnce(t *testing.T) {
	parallelBrowser(t)
	c := newStage(t).consoleAt(t, storage.RoleAdmin, "settings/keys", "API keys")
	c.Click("button", "New key")
	c.Fill("textbox", "Label", "shop")
	c.Press(kb.Enter)
	c.WaitFor(`document.activeElement.textContent === "Copy key"`)
	c.Press(kb.Escape)
	c.WaitFor(`document.activeElement.textContent === "New key"`)
	c.calm()
}

// Labels are put on and taken off by the keyboard, which stays beside them.
func TestTheFocusStaysBesideLabels(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.label("VIP")
	id := s.says(s.connect(), "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openAddress("inbox/" + id)
	c.Find("button", "Add label")
	c.Focus("button", "Add label")
	c.Press(kb.Enter, " ")
	c.Find("button", "Remove label VIP")
	c.Press(kb.Escape)
	c.Gone("checkbox", "VIP")
	c.WaitFor(`document.activeElement.id === "add-label"`)

	c.Focus("button", "Remove label VIP")
	c.Press(kb.Enter)
	c.Gone("button", "Remove label VIP")
	c.WaitFor(`document.activeElement.id === "add-label"`)
	c.calm()
}
