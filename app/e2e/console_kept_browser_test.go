package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// Small things that broke once: each is a step of one visit of the console.
func TestWhatWasMendedStaysMended(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	number := s.connect()
	s.send(number, "+15550001111", `"type":"text","text":{"body":"Hello"}`)
	c := s.consoleAt(t, storage.RoleAdmin, "settings/health", "Health")
	c.text("1 message on the self_hosted plan, which has no limit.") // and not "1 messages"

	c.focusStaysBesideLabels(s.says(number, "15550002222", "Ana Ruiz", textOf("hi")))
	c.focusStaysBesideARowThatIsGone()
	c.focusGoesToWhatIsShownOnce()
	c.webhookWithoutEventsHasNoEmptyCell()
	c.namesFromRightToLeftStandInLine(s.says(number, "15550003333", "محمد علي", textOf("hi")))
	c.longNameLeavesRoomForTheThread(s.says(number, "15550004444", strings.Repeat("W", 190), textOf("hi")))
	c.nothingIsDrawnByAForcedGround(s.says(number, "15550005555", "Bo Berg", textOf("hello")))
	c.calm()

	// An address may hold what no text can be made of.
	c.open("contacts/%E0%A4", "Not found")
	c.open("%E0%A4", "Page not found")
	c.calm("status of 400", "status of 404")
}

// goes goes to a screen by a link.
func (c *colleague) goes(path, heading string) {
	c.t.Helper()
	c.openAddress(path)
	c.heading(heading)
}

// Labels are put on and taken off by the keyboard, which stays beside them.
func (c *colleague) focusStaysBesideLabels(conversation string) {
	c.t.Helper()
	vip := c.stage.label("VIP")
	c.openAddress("inbox/" + conversation)
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
	c.stage.exchange("DELETE", c.stage.app.URL()+"/v1/labels/"+vip, "")
}

// Who deletes a row by the keyboard goes on beside it.
func (c *colleague) focusStaysBesideARowThatIsGone() {
	c.t.Helper()
	for _, name := range []string{"first", "second", "third"} {
		c.stage.label(name)
	}
	c.goes("settings/labels", "Labels")
	for _, one := range [][2]string{{"third", "second"}, {"second", "first"}} {
		gone, left := one[0], one[1]
		c.row(gone)
		eval[any](c.window, `void [...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes("`+gone+`")).querySelectorAll("button")[1].focus()`)
		c.Press(kb.Enter)
		c.WaitFor(`document.activeElement.textContent === "Cancel"`)
		c.Press(kb.Tab, kb.Enter)
		c.WaitFor(`document.activeElement.closest("tr")?.textContent.includes("` + left + `") && document.activeElement.textContent === "Edit"`)
	}
}

// What cannot be seen again is where the keyboard is.
func (c *colleague) focusGoesToWhatIsShownOnce() {
	c.t.Helper()
	c.goes("settings/keys", "API keys")
	c.Click("button", "New key")
	c.Fill("textbox", "Label", "shop")
	c.Press(kb.Enter)
	c.WaitFor(`document.activeElement.textContent === "Copy key"`)
	c.Press(kb.Escape)
	c.WaitFor(`document.activeElement.textContent === "New key"`)
}

func (c *colleague) webhookWithoutEventsHasNoEmptyCell() {
	c.t.Helper()
	c.stage.call("POST", c.stage.app.URL()+"/v1/webhook_subscriptions", `{"url":"https://hooks.example.com","events":["broadcast.completed"]}`)
	c.goes("webhooks", "Webhooks")
	c.row("https://hooks.example.com", "active")
	c.WaitFor(`[...document.querySelectorAll("tbody td")].slice(2).every(td => td.textContent === "—")`)
}

// Names that are written from right to left are where all others are: beside their faces,
// and at the beginning of their columns.
func (c *colleague) namesFromRightToLeftStandInLine(conversation string) {
	c.t.Helper()
	for _, name := range []string{"Bakery Nord", "مخبز"} {
		c.stage.call("POST", c.stage.app.URL()+"/v1/customers", `{"name":"`+name+`"}`)
	}
	const left = `(e => { const r = document.createRange(); r.selectNodeContents(e); return Math.round(r.getBoundingClientRect().left) })`
	c.openAddress("inbox/" + conversation)
	c.Find("region", "Conversation with محمد علي")
	for _, width := range []int64{1280, 360} {
		c.Do(chromedp.EmulateViewport(width, 740))
		c.WaitFor(left + `(document.querySelector(".thread-name h2")) === ` + left + `(document.querySelector(".thread-name p"))`)
	}
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.goes("customers", "Customers")
	c.row("مخبز")
	c.WaitFor(`new Set([...document.querySelectorAll("tbody td:first-child a")].map(` + left + `)).size === 1`)
}

// The longest of names leaves room for the messages.
func (c *colleague) longNameLeavesRoomForTheThread(conversation string) {
	c.t.Helper()
	c.openAddress("inbox/" + conversation)
	c.Find("complementary", "Details")
	c.WaitFor(`document.querySelector(".thread-name h2").textContent.startsWith("WWW") && document.querySelector(".write-box textarea").offsetHeight < 50`)
	c.WaitFor(`document.querySelector(".person-name").offsetHeight < 100`)
	c.goes("phone/15550004444", "Phone")
	c.WaitFor(`document.querySelector(".phone-compose textarea").offsetHeight < 50`)
}

// Forced colours remove every background: anything drawn by its
// background alone keeps its colours, or has a line around it.
func (c *colleague) nothingIsDrawnByAForcedGround(conversation string) {
	c.t.Helper()
	c.Do(c.Prefers("forced-colors", "active"))
	c.goes("phone/15550005555", "Phone")
	c.Find("switch", "24-hour window open")
	c.WaitFor(`[...document.querySelectorAll(".switch")].every(e => getComputedStyle(e).backgroundColor !== getComputedStyle(document.body).backgroundColor)`)
	c.WaitFor(`getComputedStyle(document.querySelector("main select")).appearance === "auto"`)
	c.openAddress("inbox/" + conversation)
	c.article("hello")
	c.WaitFor(`getComputedStyle(document.querySelector(".bubble")).borderTopWidth === "1px"`)
	c.Press("?")
	c.Find("dialog", "Keyboard shortcuts")
	c.WaitFor(`getComputedStyle(document.querySelector("dialog")).borderTopWidth === "1px"`)
}
