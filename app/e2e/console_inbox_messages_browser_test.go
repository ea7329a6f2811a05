package e2e

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestEveryKindOfMessageIsShownAsTheNetworkDoes(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.template(number, "order_update", `[{"type":"HEADER","format":"TEXT","text":"News"},{"type":"BODY","text":"Hi {{1}}, it is on its way.","example":{"body_text":[["Ana"]]}},{"type":"FOOTER","text":"Bakery Nord"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Where is it?"}]}]`)
	says := func(content string) { s.says(number, "15550001111", "Ana Ruiz", content) }
	sends := func(content string) map[string]any {
		return s.await(number, s.send(number, "+15550001111", content), isStatus("read"))
	}
	says(textOf("*bold* _italic_ ~strike~ `code` 2*3*4 https://example.com/a_b_c. me@example.com"))
	says(`"type":"image","image":{"data":"` + dot + `","mime_type":"image/png","caption":"Like this"}`)
	says(`"type":"document","document":{"data":"` + base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 x")) + `","mime_type":"application/pdf","filename":"invoice.pdf"}`)
	says(`"type":"location","location":{"latitude":52.5,"longitude":13.4,"name":"Café Nord"}`)
	says(`"type":"contacts","contacts":[{"name":{"formatted_name":"Bo Berg"},"phones":[{"phone":"+1 555 000 2222"}]}]`)
	says(`"type":"button","button":{"payload":"a","text":"Where is it?"}`)
	says(`"type":"order","order":{"catalog_id":"1","product_items":[{},{}]}`)
	says(`"type":"unsupported"`)
	asked := sends(`"type":"interactive","interactive":{"type":"button","header":{"type":"text","text":"A question"},"body":{"text":"Which one?"},"footer":{"text":"Take your time"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"The blue one"}},{"type":"reply","reply":{"id":"b","title":"The sand one"}}]}}`)
	says(`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"a","title":"The blue one"}},"context":{"message_id":"` + asked["message_id"].(string) + `"}`)
	says(`"type":"reaction","reaction":{"message_id":"` + asked["message_id"].(string) + `","emoji":"👍"}`)
	sends(`"type":"interactive","interactive":{"type":"list","body":{"text":"Choose"},"action":{"button":"See all","sections":[{"title":"Cakes","rows":[{"id":"1","title":"Plum","description":"with cream"}]}]}}`)
	sends(`"type":"template","template":{"name":"order_update","language":"en_US","components":[{"type":"body","parameters":[{"type":"text","text":"Ana"}]}]}`)
	s.send(number, "+1999000131026", `"type":"text","text":{"body":"to nobody"}`)

	c := s.console(t, storage.RoleAdmin)
	c.openConversation("Ana Ruiz")
	for _, text := range []string{"Like this", "invoice.pdf", "Café Nord", "Bo Berg", "Where is it?", "Order", "Ask them to send it another way", "A question", "Take your time", "The sand one", "See all", "with cream", "Hi Ana, it is on its way.", "Bakery Nord"} {
		c.article(text)
	}
	for _, tag := range []string{"b", "i", "s", "code", `a[href="https://example.com/a_b_c"][rel="noopener noreferrer"]`, `a[href="mailto:me@example.com"]`} {
		c.threadHas(".message-text " + tag)
	}
	c.threadHas(`img[alt="Like this"]`)
	c.threadHas(`a[download="invoice.pdf"]`)
	c.threadHas(`a[href*="mlat=52.5"]`)
	c.threadHas(`a[href="tel:+15550002222"]`)
	c.threadHas(`[aria-label="Ana Ruiz reacted 👍"]`)
	c.article("2*3*4") // no mark within a word
	c.WaitFor(`document.querySelector("article .quote span").textContent === "Which one?"`)
	eval[any](c.window, `void document.querySelector("article .quote").click()`)
	c.WaitFor(fmt.Sprintf(`document.activeElement.id === %q`, asked["id"]))
	c.is.Equal(eval[int](c.window, `[...document.querySelectorAll("article")].filter(a => ["Reply", "React", "More"].every(n => [...a.querySelectorAll("button")].some(b => b.textContent === n))).length`), eval[int](c.window, `document.querySelectorAll("article").length`))
	c.shoot("inbox-kinds")
	c.repliesAndReacts()

	// A failure says why, with its code, and is sent again as a new message.
	c.Click("link", "+1999000131026")
	c.article("Not sent: this number can’t be reached (131026)")
	c.shoot("inbox-failed")
	c.calm("status of 404")
	c.showsWhatStrangersWriteAsText(number)
	c.calm("status of 404")
}

// threadHas waits until there is something in the thread.
func (c *colleague) threadHas(selector string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.querySelector(%q) !== null`, "[role=log] "+selector))
}

// repliesAndReacts: a reply carries a quote, a reaction is on what it reacts to, and More leads to the trace.
func (c *colleague) repliesAndReacts() {
	c.onArticle("Like this", "Reply")
	c.WaitFor(`document.querySelector(".answered") !== null && document.activeElement.ariaLabel === "Message"`)
	c.Press("Lovely", kb.Enter)
	c.state("Lovely", "read")
	c.WaitFor(`[...document.querySelectorAll("article")].at(-1).querySelector(".quote span").textContent === "Like this"`)
	c.onArticle("Like this", "React")
	c.Click("button", "❤️")
	c.threadHas(`[aria-label="Mira Kovač reacted ❤️"]`)
	c.onArticle("Lovely", "More")
	c.Find("menuitem", "Trace")
	c.Press(kb.Escape)
}

// hostileMessages are texts that have broken other inboxes.
var hostileMessages = []string{
	`<img src=x onerror="document.title='broken'">`, `"><script>document.title='broken'</script>`, `javascript:alert(1) https://example.com/"onmouseover="x`,
	"\u202eevil\u202c \u2066isolated", strings.Repeat("Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢", 20), strings.Repeat("x", 4000), strings.Repeat("*_~`", 1000), "{{name}} ${1+1} %s %n \x01", "]]>--><![CDATA[", "مرحبا بالعالم", "👩‍👩‍👧‍👦🏳️‍🌈", " ",
}

// What strangers write is text.
func (c *colleague) showsWhatStrangersWriteAsText(number string) {
	s := c.stage
	s.resolveAll(number)
	for i, text := range hostileMessages {
		name := string([]rune(text)[:min(40, len([]rune(text)))])
		s.says(number, fmt.Sprint(15550003330+i), name, textOf(text))
		s.says(number, fmt.Sprint(15550003330+i), name, `"type":"location","location":{"latitude":1,"longitude":2,"name":`+strings.TrimSuffix(strings.TrimPrefix(textOf(text), `"type":"text","text":{"body":`), "}")+`}`)
	}
	c.WaitFor(fmt.Sprintf(`document.querySelectorAll("[aria-label=Conversations] a").length === %d`, len(hostileMessages)))
	for i, text := range hostileMessages {
		contact := url.QueryEscape(fmt.Sprint("+", 15550003330+i))
		var found struct{ Data []struct{ ID string } }
		s.read("/"+number+"/contacts?phone_number="+contact, &found)
		var of struct{ Data []struct{ ID string } }
		s.read("/"+number+"/conversations?contact_id="+found.Data[0].ID, &of)
		eval[any](c.window, fmt.Sprintf(`void document.querySelector("[data-conversation=%s]").click()`, of.Data[0].ID))
		c.WaitFor(fmt.Sprintf(`location.pathname.endsWith(%q) && document.querySelectorAll("article").length === 2`, of.Data[0].ID))
		marks := strings.NewReplacer("*", "", "_", "", "~", "", "`", "")
		shown := eval[string](c.window, `document.querySelector("article .message-text").textContent`)
		c.is.Equal(marks.Replace(shown), marks.Replace(text))
	}
	c.is.Equal(eval[int](c.window, `document.querySelectorAll(".inbox script, .inbox [onerror], .inbox [onmouseover]").length`), 0)
	c.is.Equal(eval[int](c.window, `[...document.querySelectorAll(".inbox a")].filter(a => !/^(https?|mailto|tel):/.test(a.href)).length`), 0)
	c.is.True(!strings.Contains(eval[string](c.window, `document.title`), "broken"))
	c.shoot("inbox-hostileMessages")
}

// TestFilesAreShownByTheirPathAndLinksAsCards: under any public name of the server, and
// without asking another server.
func TestFilesAreShownByTheirPathAndLinksAsCards(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, func(c *config.Config) { c.Server.PublicURL = "http://chat.test" })
	here := "http://" + s.app.Config.Server.Listen
	s.sim.SetWebhook(here + "/provider/webhook")
	number := s.connect()
	conversation := s.says(number, "15550001111", "Ana Ruiz", `"type":"image","image":{"data":"`+dot+`","mime_type":"image/png","caption":"Like this"}`)
	sent := askWith(t, "POST", here+"/v1/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"image","image":{"link":"https://elsewhere.test/a.png"}}`,
		"Authorization: Bearer "+s.tenant.Secret, "Content-Type: application/json")
	if sent.status != 200 {
		t.Fatal(sent.body)
	}

	c := s.signedIn(t, "Ada", "ada@example.com", storage.RoleAgent)
	c.Visit(here + "/console/inbox/" + conversation)
	c.WaitFor(`document.querySelector('[role=log] img[alt="Like this"]')?.naturalWidth === 1`)
	c.article("Sent as a link")
	c.is.Equal(eval[string](c.window, `document.querySelector("[role=log] .file a").href`), "https://elsewhere.test/a.png")
	for _, request := range c.Requests() {
		if !strings.HasPrefix(request, here+"/") && !strings.HasPrefix(request, "data:") {
			t.Errorf("the console asked for %s", request)
		}
	}
}
