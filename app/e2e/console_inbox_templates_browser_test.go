package e2e

import (
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// Templates are sent from the inbox, one after the other in one window.
func TestTemplatesAreSentFromTheInbox(t *testing.T) {
	parallelBrowser(t)
	c := newDesk(t, storage.RoleAgent)
	c.sendsOnlyTemplatesToAClosedWindow()
	c.sendsTheFileOfATemplate()
	c.asksAgainForATemplate()
	c.calm("status of 404")
}

func (c *desk) sendsOnlyTemplatesToAClosedWindow() {
	s, number := c.stage, c.number
	c.leavesADialogForItsLink()
	s.template(number, "order_update", `[{"type":"BODY","text":"Hi {{1}}, your order {{2}} is on its way.","example":{"body_text":[["Ana","A-1"]]}}]`)
	s.send(number, "+15550003333", `"type":"text","text":{"body":"too early"}`) // she never wrote
	c.Click("link", "+15550003333")
	c.Find("region", "Conversation with +15550003333")
	c.Find("note", "")
	c.Gone("textbox", "Message")
	c.shoot("inbox-closed")
	c.Click("button", "Choose a template")
	c.Click("button", "order_update")
	c.Click("button", "Send template")
	c.is.Equal(c.Describe("textbox", "{{1}}").Properties["invalid"], "true") // what cannot be sent is not sent
	c.Fill("textbox", "{{1}}", "Cleo")
	c.Fill("textbox", "{{2}}", "A-7")
	c.WaitFor(`document.querySelector("[aria-label=Preview]").textContent.includes("Hi Cleo, your order A-7 is on its way.")`)
	c.shoot("inbox-template")
	c.Click("button", "Send template")
	c.article("Hi Cleo, your order A-7 is on its way.")

	// She writes, and the window is open again.
	s.says(number, "15550003333", "Cleo", textOf("thanks"))
	c.Find("textbox", "Message")
}

// A link in a dialog leads to its screen, and not to one behind the dialog.
func (c *desk) leavesADialogForItsLink() {
	c.meets("15550005555", "Eva", textOf("hi"))
	c.Click("button", "Templates")
	c.Find("heading", "No approved templates")
	eval[any](c.window, `void document.querySelector("dialog .actions a").click()`)
	c.heading("Templates")
	c.Gone("dialog", "Choose a template")
	c.Do(chromedp.NavigateBack())
	c.Find("region", "Conversation with Eva")
}

// The file of a template's header is chosen here, and goes with it.
func (c *desk) sendsTheFileOfATemplate() {
	s, number := c.stage, c.number
	s.template(number, "menu", `[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::handle"]}},{"type":"BODY","text":"Today, with love."}]`)
	s.send(number, "+15550004444", `"type":"text","text":{"body":"too early"}`)
	c.Click("link", "+15550004444")
	c.Click("button", "Choose a template")
	c.Click("button", "menu")
	c.Click("button", "Send template")
	c.shows("This field is required.")

	// It is the one that was chosen last.
	for _, file := range []struct {
		name  string
		width int
	}{{"wrong.png", 100}, {"menu.png", 400}} {
		path := filepath.Join(c.t.TempDir(), file.name)
		c.is.NoErr(os.WriteFile(path, drawnPicture(file.width, 300, color.RGBA{60, 120, 180, 255}), 0o600))
		c.Upload(".fill-in .attachments input", path)
		c.Find("button", "Remove "+file.name)
	}
	c.WaitFor(`document.querySelector(".fill-in .preview img")?.naturalWidth === 400`)
	c.Click("button", "Send template")
	c.article("Today, with love.")
	c.WaitFor(`document.querySelector("article .picture img")?.naturalWidth === 400`)
	c.shoot("inbox-template-picture")

	// Arrows lead to it from the pictures that she sent.
	s.says(number, "15550004444", "Dan", fileOf("image", "image/png", drawnPicture(60, 90, color.RGBA{180, 90, 60, 255}), `,"caption":"It came"`))
	c.Click("button", "It came")
	c.Find("dialog", "Picture")
	c.WaitFor(`document.querySelector("dialog .viewer-tools button").ariaDisabled !== "true"`)
	c.Click("button", "Previous picture")
	c.WaitFor(`document.querySelector("dialog .viewer-stage img").naturalWidth === 400`)
	c.Press(kb.Escape)
}

// What could not be read while the server was gone is no template that is not there.
func (c *desk) asksAgainForATemplate() {
	s, number := c.stage, c.number
	s.template(number, "greeting", `[{"type":"BODY","text":"Good morning."}]`)
	eval[any](c.window, `void ((real) => {
		globalThis.fetch = (url, options) =>
			(/templates\/greeting/.test(url) && !globalThis.isBack ? Promise.reject(new TypeError("gone")) : real(url, options));
	})(fetch)`)
	s.send(number, "+15550006666", `"type":"template","template":{"name":"greeting","language":"en_US"}`)
	c.Click("link", "+15550006666")
	c.article("Template greeting")
	eval[any](c.window, `void (globalThis.isBack = true)`)
	c.Click("link", "Eva")
	c.Find("region", "Conversation with Eva")
	c.Click("link", "+15550006666")
	c.article("Good morning.")
}

// template makes a template and waits until it is approved.
func (s *stage) template(number, name, components string) {
	s.t.Helper()
	s.call("POST", s.app.URL()+"/v1/"+number+"/templates", `{"name":"`+name+`","language":"en_US","category":"UTILITY","components":`+components+`}`)
	s.becomes("/"+number+"/templates/"+name, "status", "approved")
}
