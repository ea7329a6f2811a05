package e2e

import (
	"encoding/json"
	"fmt"
	"image/color"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// markup is a text that must stay one.
const markup = `<img src=x onerror="document.title='owned'">`

// reconnects lets the page lose the server and find it again: then it reads all anew.
func (c *colleague) reconnects() {
	c.t.Helper()
	eval[any](c.window, `void (dispatchEvent(new Event("offline")), dispatchEvent(new Event("online")))`)
}

// shows waits until the page shows a text.
func (c *colleague) shows(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// previews waits until the preview of a template shows a text.
func (c *colleague) previews(text string) {
	c.t.Helper()
	c.Find("group", "Preview")
	c.WaitFor(fmt.Sprintf(`document.querySelector(".preview").innerText.includes(%q)`, text))
}

// unharmed checks that nothing that was written became anything but text.
func (c *colleague) unharmed() {
	c.t.Helper()
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main img, main script, dialog img").length`), 0.0)
	c.is.True(eval[string](c.window, `document.title`) != "owned")
}

// TestTemplates is about one after the other, in one window of an admin.
func TestTemplates(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "templates", "Templates")
	c.Find("heading", "No templates yet")
	c.shoot("templates-none")

	s.play("PATCH", "/_sim/settings", `{"template_review_ms":3600000}`)
	rulesAreSaidWhileATemplateIsWritten(c)
	aTemplateIsSubmitted(c)
	aRejectedTemplateIsRepaired(c, number)
	aTemplateIsDeleted(c)

	templatesAreSyncedAndFiltered(c, number)
	whatTheProviderHoldsIsText(c, number)
	theHeaderOfATemplateIsUploaded(c, number)
	aCarouselIsBuilt(c)
}

func rulesAreSaidWhileATemplateIsWritten(c *colleague) {
	c.Click("button", "New template")
	c.heading("New template")
	c.Fill("textbox", "Name", "Order Shipped")
	c.shows("Use lowercase letters, digits and _ only")
	c.Fill("textbox", "Name", "order_shipped")
	c.Fill("textbox", "Text", "{{1}} is on its way")
	c.shows("Don’t start or end with a variable")
	c.Fill("textbox", "Text", "Hello {{1}}, your order *{{3}}* is on its way.")
	c.shows("without gaps")
	c.Fill("textbox", "Text", "Hello {{1}}, your order *{{2}}* is on its way.")
	c.Click("button", "Save")
	c.shows("Add an example for {{1}}.")
	c.shoot("template-rules")
}

// aTemplateIsSubmitted with a text that has two variables, after examples of them.
func aTemplateIsSubmitted(c *colleague) {
	c.Fill("textbox", "Example for {{1}}", "Ana")
	c.Fill("textbox", "Example for {{2}}", markup)
	c.previews("Hello Ana, your order " + markup + " is on its way.")
	c.Fill("textbox", "Footer", "Bakery Nord")
	c.Click("button", "Add button")
	c.Click("menuitem", "Link")
	c.Fill("textbox", "Button text", "Track it")
	c.Fill("textbox", "Link", "https://example.com/t/{{1}}")
	c.Fill("textbox", "Example of the full link", "https://example.com/t/42")
	c.previews("Track it")
	c.fits()
	c.shoot("template-new")
	c.unharmed()
	c.Click("button", "Save")
	c.toast("Submitted for review")
	c.heading("order_shipped")
	c.shows("The provider is reviewing it.")
	c.Gone("link", "Edit")
	c.calm("status of 400")
}

// aRejectedTemplateIsRepaired: the verdict shows by itself, with its reason and what helps.
func aRejectedTemplateIsRepaired(c *colleague, number string) {
	s := c.stage
	var made struct {
		Data struct {
			ID     string `json:"id"`
			Theirs string `json:"provider_template_id"`
		}
	}
	s.read("/"+number+"/templates/order_shipped", &made)
	c.is.Equal(c.at(), "templates/"+made.Data.ID)
	s.play("POST", "/_sim/templates/"+made.Data.Theirs+"/review", `{"status":"REJECTED","reason":"INVALID_FORMAT"}`)
	s.becomes("/"+number+"/templates/order_shipped", "status", "rejected")
	c.reconnects()
	c.shows("Its format is invalid. INVALID_FORMAT")
	c.shows("What usually helps: number variables from 1")
	c.previews("Hello Ana")
	c.shoot("template-rejected")
	c.fits()

	// It is repaired and submitted again.
	c.Click("link", "Edit")
	c.heading("Edit order_shipped")
	c.is.Equal(eval[string](c.window, `document.querySelector("textarea").value`), "Hello {{1}}, your order *{{2}}* is on its way.")
	c.Fill("textbox", "Text", "Hello {{1}}, order {{2}} left our house.")
	c.previews("Hello Ana, order")
	c.shoot("template-edit")
	c.Click("button", "Save")
	c.heading("order_shipped")
	s.play("POST", "/_sim/templates/"+made.Data.Theirs+"/review", `{"status":"APPROVED"}`)
	s.becomes("/"+number+"/templates/order_shipped", "status", "approved")
	c.reconnects()
	c.Find("button", "New broadcast")
	c.shows("approved")
	c.calm("status of 400")
}

// aTemplateIsDeleted on its page: order_shipped, the only one.
func aTemplateIsDeleted(c *colleague) {
	c.Click("button", "Delete")
	c.Find("dialog", "Delete “order_shipped”?")
	c.Click("button", "Delete")
	c.toast("Template deleted")
	c.heading("Templates")
	c.Find("heading", "No templates yet")
	c.calm("status of 404") // it was read again when it was gone
}

// templatesAreSyncedAndFiltered begins with none.
func templatesAreSyncedAndFiltered(c *colleague, number string) {
	s := c.stage
	s.atProvider(number, `{"name":"welcome","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"Welcome here."}]}`)
	c.Click("button", "Sync")
	c.toast("Synced: 1 new, 0 updated, 0 deleted")
	c.row("welcome", "en_US", "utility")
	card := func(name string) string {
		return `{"components":[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"` + name + `"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Ja"}]}]}`
	}
	s.storeTemplate(number, storage.Template{Name: "offer", Language: "de", Status: storage.TemplateApproved, Category: "MARKETING", Content: "Ein Angebot.",
		Components: storage.JSON(`[{"type":"BODY","text":"Ein Angebot."},{"type":"CAROUSEL","cards":[` + card("Brot") + "," + card("Kuchen") + `]}]`)})
	c.reconnects()
	c.row("offer", "de", "marketing")
	c.shoot("templates")
	c.fits()

	c.pick("Language", "de")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.row("offer")
	c.is.Equal(c.at(), "templates?language=de")
	c.pick("Category", "utility")
	c.shows("No templates match.")
	c.pick("Language", "All")
	c.row("welcome")
	c.pick("Status", "rejected")
	c.shows("No templates match.")
	c.pick("Category", "All")
	c.pick("Status", "All")

	c.Click("link", "offer")
	c.heading("offer")
	c.previews("Kuchen")
	c.Find("group", "Cards")
	c.shoot("template-carousel")
	c.fits()
	c.goTo("templates/tmpl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Not found")
	c.goTo("templates", "Templates") // else it looks again when others come
	c.calm("status of 404")
}

func whatTheProviderHoldsIsText(c *colleague, number string) {
	all := strings.Join(hostileTexts, "\n")
	part := func(kind, more string) string {
		return fmt.Sprintf(`{"type":%q,"text":%s%s}`, kind, quoted(all), more)
	}
	id := c.stage.storeTemplate(number, storage.Template{Name: "hostile", Language: "en", Status: storage.TemplateRejected, Category: "MARKETING", Content: all, Reason: hostileTexts[1],
		Components: storage.JSON("[" + part("HEADER", `,"format":"TEXT"`) + "," + part("BODY", "") + "," + part("FOOTER", "") +
			`,{"type":"BUTTONS","buttons":[{"type":"URL","url":"javascript:alert(1)","text":` + quoted(all) + `},{"type":"STRANGE"},{"type":"QUICK_REPLY","text":"a"},{"type":"QUICK_REPLY","text":"b"}]}]`)})
	c.reconnects()
	c.row("hostile", "<script>alert(1)</script>")
	c.unharmed()
	c.goTo("templates/"+id, "hostile")
	for _, text := range hostileTexts {
		c.is.Equal(eval[float64](c.window, fmt.Sprintf(`document.querySelector(".preview").textContent.split(%s).length`, quoted(text))), 5.0) // in all four parts
	}
	c.shows("The provider rejected it.")
	c.unharmed()
	c.fits()
	c.goTo("templates/"+id+"?edit=1", "Edit hostile")
	c.unharmed()
	c.calm()
}

// quoted writes a text as JSON, and as JavaScript.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // never for a text
	}
	return string(b)
}

func aCarouselIsBuilt(c *colleague) {
	c.goTo("templates/new", "New template")
	c.Gone("button", "Add card")
	c.Fill("textbox", "Name", "spring")
	c.Click("radio", "Marketing")
	c.Fill("textbox", "Text", "What is new this spring:")
	c.Click("button", "Add card")
	c.shows("Use 2 to 10 cards.")
	c.Click("button", "Add card")
	c.Find("group", "Card 2")
	for i, name := range []string{"Brot", "Kuchen"} {
		within := fmt.Sprintf(`document.querySelectorAll("fieldset.group")[%d]`, i)
		eval[any](c.window, within+`.querySelector("[type=url]").focus()`)
		c.Press("https://example.com/" + name + ".png")
		eval[any](c.window, within+`.querySelector("[name$=-text]").focus()`)
		c.Press(name)
	}
	c.Click("button", "Add button to the cards")
	c.Click("menuitem", "Link")
	c.WaitFor(`document.querySelectorAll("fieldset.group fieldset.group").length === 2`) // one for each card
	c.previews("Kuchen")
	c.is.Equal(eval[string](c.window, `document.querySelector("fieldset.group [name$=-text]").value`), "Brot")
	c.shoot("template-carousel-new")
	c.fits()
	c.calm()
}

// pick picks an entry of a combobox.
func (c *colleague) pick(name, entry string) {
	c.t.Helper()
	c.Focus("combobox", name)
	eval[any](c.window, fmt.Sprintf(`(s => { s.value = [...s.options].find(o => o.textContent === %q).value; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.activeElement)`, entry))
}

// atProvider makes a template at the provider that the server does not know. This one and those
// after it are approved at once.
func (s *stage) atProvider(number, body string) {
	s.t.Helper()
	s.play("PATCH", "/_sim/settings", `{"template_review_ms":1}`)
	for _, n := range s.sim.Numbers() {
		if n.PhoneNumberID != number {
			continue
		}
		req, err := http.NewRequest("POST", s.simURL+"/"+n.WABAID+"/message_templates", strings.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.sim.Credentials().AccessToken)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			s.t.Fatal(res.Status)
		}
	}
}

// storeTemplate stores a template of a number.
func (s *stage) storeTemplate(number string, one storage.Template) string {
	s.t.Helper()
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		one.AccountID, one.ParameterFormat = a.ID, "POSITIONAL"
		return tx.InsertTemplate(&one)
	})
	return one.ID
}

// The example of a header is a file of one's own, which the server uploads to the provider.
func theHeaderOfATemplateIsUploaded(c *colleague, number string) {
	c.goTo("templates/new", "New template")
	c.Fill("textbox", "Name", "spring_menu")
	c.Focus("combobox", "Header")
	c.Press("P")
	path := filepath.Join(c.t.TempDir(), "menu.png")
	c.is.NoErr(os.WriteFile(path, drawnPicture(400, 300, color.RGBA{60, 120, 180, 255}), 0o600))
	c.Find("button", "Upload file")
	c.Upload(".builder .attachments input", path)
	c.WaitFor(`document.querySelector(".preview img")?.naturalWidth === 400`)
	c.Fill("textbox", "Text", "Our spring menu is here.")
	c.shoot("template-header-file")
	c.Click("button", "Save")
	c.toast("Submitted for review")
	c.stage.becomes("/"+number+"/templates/spring_menu", "status", "approved")
}
