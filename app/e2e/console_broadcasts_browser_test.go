package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestBroadcasts is about one after the other, in one window of an admin.
func TestBroadcasts(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "broadcasts", "Broadcasts")
	c.Find("heading", "No broadcasts yet")
	c.shoot("broadcasts-none")

	storeRegulars(s, number)
	aBroadcastIsWritten(c)
	theAudienceOfABroadcastIsChosen(c)
	aBroadcastIsTried(c)
	aBroadcastIsReviewed(c)
	aBroadcastIsWatched(c)
	repliesToABroadcastAreCounted(c, number)

	s.atProvider(number, `{"name":"update","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "update")
	aBroadcastIsScheduled(c)
	aBroadcastIsPausedResumedAndCancelled(c)
	aBroadcastTakesAnUploadedPicture(c, number)
	anAudienceIsWhatIsShown(c)
	aButtonUnderThePointerKeepsItsText(c)
}

// storeRegulars stores a template and six people with a label, of whom one wants no marketing and one has no name.
func storeRegulars(s *stage, number string) {
	s.t.Helper()
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Hello {{1}}, something is new here.","example":{"body_text":[["Ana"]]}},
		{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Show me"},{"type":"QUICK_REPLY","text":"Not now"}]}]}`)
	s.awaitApproval(number, "news")
	label := s.label("Regulars")
	for i := range 6 {
		name := fmt.Sprintf("Person%d Last", i)
		if i == 5 {
			name = "+1 555 000 1115" // which is no name
		}
		id := s.contact(number, fmt.Sprintf("+1555000111%d", i), name)
		s.call("POST", s.app.URL()+"/v1/"+number+"/contacts/"+id+"/labels", `{"label_id":"`+label+`"}`)
		if i == 0 {
			storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error { return tx.MarkOptedOut(id) })
		}
	}
}

// isWrong waits until a field of a broadcast says what is wrong with it.
func (c *colleague) isWrong(field, words string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`(e => e?.ariaInvalid === "true" && e.getAttribute("aria-describedby").split(" ").some(id => document.getElementById(id)?.textContent === %q))(document.querySelector("#broadcast-%s"))`, words, field))
}

// aBroadcastIsWritten: a template, its fields and its preview. What is missing is said at its field.
func aBroadcastIsWritten(c *colleague) {
	c.Click("button", "New broadcast")
	c.heading("New broadcast")
	c.Click("button", "Next")
	c.isWrong("name", "Enter a name.")
	c.isWrong("template", "Choose a template.")
	c.shoot("broadcast-wrong")
	c.Fill("textbox", "Name", "Spring "+markup)
	c.pick("Template", "news (en)")
	c.Click("button", "Next")
	c.shows("This field is required.")
	c.Fill("textbox", "{{1}}", "{{first_name}}")
	c.previews("Hello {{first_name}}, something is new here.")
	c.shoot("broadcast-template")
	c.fits()
	c.Click("button", "Next")
}

// theAudienceOfABroadcastIsChosen: how many, and who will be skipped and why.
func theAudienceOfABroadcastIsChosen(c *colleague) {
	c.Click("button", "Next")
	c.isWrong("label", "Choose a label.")
	c.pick("Label", "Regulars")
	c.shows("6 people")
	c.shows("1 stopped marketing messages")
	c.shows("1 without a value for a field in the message")
	c.shoot("broadcast-audience")
	c.fits()
	c.Click("button", "Next")
}

// aBroadcastIsTried with a number that one types, before one says when.
func aBroadcastIsTried(c *colleague) {
	c.Fill("textbox", "Phone number", "nonsense")
	c.Click("button", "Send test")
	c.WaitFor(`document.querySelector("#broadcast-to").ariaInvalid === "true"`)
	c.Fill("textbox", "Phone number", "+15550009999")
	c.Click("button", "Send test")
	c.toast("Sent to +15550009999")
	c.Gone("button", "Start broadcast")
	c.shoot("broadcast-when")
	c.fits()
	c.Click("button", "Next")
}

// aBroadcastIsReviewed: the message as the first people will see it, and exactly what the run will do. Then it starts.
func aBroadcastIsReviewed(c *colleague) {
	c.Find("region", "Review")
	c.shows("4 of 6 people will get it")
	c.shows("Person1 Last · +15550001111")
	c.shows("Hello Person1, something is new here.")
	c.shoot("broadcast-review")
	c.fits()
	c.unharmed()

	// Those without a name are reached by a fallback.
	c.Click("button", "Change template")
	c.Fill("textbox", "{{1}}", "{{first_name|there}}")
	for range 3 {
		c.Click("button", "Next")
	}
	c.shows("5 of 6 people will get it")
	c.Click("button", "Start broadcast")
	c.heading("Spring " + markup)
	c.unharmed()
	c.calm("status of 400")
}

// aBroadcastIsWatched while it runs, to its end, which is what was promised.
func aBroadcastIsWatched(c *colleague) {
	c.WaitFor(`document.querySelector("h1").parentNode.textContent.includes("completed")`)
	c.WaitFor(`[...document.querySelectorAll(".funnel > div")].map(d => d.querySelector("dt").textContent + d.querySelector("dd").textContent).join() === "Sent5,Delivered5,Read5,Failed0,Skipped1,Waiting0"`)
	c.row("Stopped marketing messages", "1")
	c.row("+15550001114", "read")
	c.Find("table", "Skipped by reason")
	c.Gone("table", "Failures by reason")
	c.calm()
}

// repliesToABroadcastAreCounted on its page.
func repliesToABroadcastAreCounted(c *colleague, number string) {
	s := c.stage
	id, _, _ := strings.Cut(strings.TrimPrefix(c.at(), "broadcasts/"), "?")
	var sent struct {
		Data []struct {
			To        string
			MessageID string `json:"message_id"`
		}
	}
	s.read("/"+number+"/broadcasts/"+id+"/recipients?status=read", &sent)

	// Somebody writes, and others tap.
	s.says(number, "15550001111", "Ana", textOf("Is it blue?"))
	for _, one := range sent.Data[1:3] {
		message := s.call("GET", s.app.URL()+"/v1/"+number+"/messages/"+one.MessageID, "")
		s.says(number, strings.TrimPrefix(one.To, "+"), "Bo",
			`"type":"button","button":{"payload":"Show me","text":"Show me"},"context":{"id":"`+message["message_id"].(string)+`"}`)
	}
	c.Find("heading", "Replies")
	c.WaitFor(`document.querySelector(".replies").textContent === "Replied3 peopleTapped “Show me”2"`)
	c.shoot("broadcast")
	c.fits()
	c.pick("Status", "skipped")
	c.row("+15550001110", "skipped", "Stopped marketing messages")
	c.Gone("button", "Pause")
	eval[any](c.window, `void (HTMLAnchorElement.prototype.click = function () { window.saved = this.href })`)
	c.Click("button", "Export")
	c.is.Equal(eval[float64](c.window, `fetch(window.saved).then(r => r.text()).then(t => t.trim().split("\n").length)`), 7.0)

	// The trace of one of its messages leads back to it.
	c.Visit(s.app.URL() + "/console/trace/" + sent.Data[0].MessageID)
	c.Click("link", "Spring "+markup)
	c.heading("Spring " + markup)
	c.calm()
}

func aBroadcastTakesAnUploadedPicture(c *colleague, number string) {
	s := c.stage
	s.atProvider(number, `{"name":"look","language":"en","category":"UTILITY","components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4:picture"]}},{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "look")
	c.goTo("broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "With a picture")
	c.pick("Template", "look (en)")
	c.Find("button", "Choose picture")
	picture, err := base64.StdEncoding.DecodeString(dot)
	c.is.NoErr(err)
	c.chooseFile("vase.png", string(picture))
	c.Find("button", "Remove vase.png")
	c.WaitFor(`document.querySelector(".preview img.preview-picture")?.complete`)
	c.shoot("broadcast-picture")
	c.fits()
	c.Click("button", "Next")
	c.Click("radio", "These numbers")
	c.Fill("textbox", "Numbers", "+15550001111")
	c.shows("1 person")
	c.Click("button", "Next")
	c.Click("button", "Next")
	c.shows("1 person will get it")
	c.Click("button", "Start broadcast")
	c.heading("With a picture")
	c.WaitFor(`document.querySelector("h1").parentNode.textContent.includes("completed")`)
	c.WaitFor(`document.querySelector(".funnel").textContent.includes("Read1")`)
	c.calm()
}

// aBroadcastIsScheduled to two people, and its page opens.
func aBroadcastIsScheduled(c *colleague) {
	c.goTo("broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "Later")
	c.pick("Template", "update (en)")
	c.Click("button", "Next")
	c.Click("radio", "These numbers")
	c.Fill("textbox", "Numbers", "+1 555 000 1111\n+1 5\n")
	c.shows("“+15” isn’t a phone number.")
	c.Click("button", "Next")
	c.Find("textbox", "Numbers") // it stays here
	c.Fill("textbox", "Numbers", "+1 555 000 1111\n+15550002222\n+15550001111")
	c.shows("2 people")
	c.shows("1 listed more than once, sent once")
	c.Click("button", "Next")
	c.Click("radio", "Later")
	c.Click("button", "Next")
	c.shows("Choose a time.")
	eval[any](c.window, `void ((e, t) => { e.value = new Date(t - new Date(t).getTimezoneOffset() * 60000).toISOString().slice(0, 16); e.dispatchEvent(new Event("input", { bubbles: true })) })(document.querySelector("[type=datetime-local]"), Date.now() + 86400000)`)
	c.Click("button", "Next")
	c.shows("2 people will get it")
	c.Click("button", "Schedule broadcast")
	c.heading("Later")
	c.shows("scheduled")
	c.calm()
}

func aBroadcastIsPausedResumedAndCancelled(c *colleague) {
	storagetest.Exec(c.t, c.stage.app.Config.DataDir, `
		WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO broadcast_recipients (broadcast, number, phone_number)
		SELECT b.number, i, '+1555' || (1000000 + i) FROM n, broadcasts b WHERE b.name = 'Later'`)
	c.Click("button", "Pause")
	c.shows("Paused manually.")
	c.shoot("broadcast-paused")

	// The first recipients make room for others, and what is read again of those changes each.
	rows := func(test string) {
		c.WaitFor(`(all => ` + test + `)([...document.querySelectorAll("[aria-label=Recipients] tbody tr")].map(tr => tr.textContent))`)
	}
	for _, last := range []string{"050", "100", "150", "200"} {
		rows(`all.at(-1).includes("+15551000` + last + `")`)
		c.Click("button", "Show more")
	}
	rows(`all.length === 200 && all.at(-1).includes("+15551000250")`)
	c.Click("button", "Resume")
	c.Find("button", "Pause")
	c.Click("button", "Cancel")
	c.Find("dialog", "Cancel Later?")
	c.shows("2 people still waiting won’t get it.")
	c.Click("button", "Cancel broadcast")
	c.shows("cancelled")
	rows(`all.every(one => one.includes("skipped")) && new Set(all).size === 200`)
	c.goTo("broadcasts", "Broadcasts")
	c.row("Later", "cancelled", "0 of 2")
	c.shoot("broadcasts")
	c.fits()
	c.pick("Status", "running")
	c.shows("No broadcasts match.")
	c.calm()
}

func anAudienceIsWhatIsShown(c *colleague) {
	c.stage.label("Nobody")
	c.goTo("broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "Spring")
	c.pick("Template", "update (en)")
	c.Click("button", "Next")

	// A file is forgotten by its field, and so by the broadcast.
	c.Click("radio", "The lines of a CSV file")
	c.chooseFile("people.csv", "phone_number\n+15550001111\n+15550002222\n")
	c.shows("2 people")
	c.Click("radio", "Everybody with a label")
	c.Click("radio", "The lines of a CSV file")
	c.Click("button", "Next")
	c.shows("Choose a file.")

	// A label and numbers are there again, with how many they are.
	c.Click("radio", "Everybody with a label")
	c.pick("Label", "Nobody")
	c.shows("No contact has this label. Labels on conversations don’t count.")
	c.Click("radio", "These numbers")
	c.Fill("textbox", "Numbers", "+15550001111")
	c.shows("1 person")
	c.Click("radio", "Everybody with a label")
	c.Click("button", "Next")
	c.shows("No contact has this label. Labels on conversations don’t count.")
	c.Click("radio", "These numbers")
	c.shows("1 person")
	c.Click("button", "Next")
	c.Click("button", "Next")
	c.Find("button", "Start broadcast")
	c.calm()
}

// The text of a form's button can be read under the pointer too.
func aButtonUnderThePointerKeepsItsText(c *colleague) {
	c.goTo("broadcasts", "Broadcasts")
	for path, at := range map[string][2]string{
		"broadcasts/new": {"New broadcast", "Next"}, "templates/new": {"New template", "Save"}, "settings/profile": {"Profile", "Save"},
	} {
		c.goTo(path, at[0])
		c.Find("button", at[1])
		for _, scheme := range []string{"light", "dark"} {
			c.Do(c.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
			where := eval[[]float64](c.window, fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("main .primary")].find(e => e.textContent.trim() === %q) ?? document.querySelector("main form .primary");
				b.scrollIntoView({ block: "center" }); const r = b.getBoundingClientRect(); window.hovered = b; return [r.x + r.width / 2, r.y + r.height / 2] })()`, at[1]))
			c.Do(chromedp.MouseEvent("mouseMoved", where[0], where[1]))
			c.WaitFor(`window.hovered.matches(":hover")`)
			c.is.True(eval[bool](c.window, `(() => {
				const light = (color) => { const [r, g, b] = color.match(/[\d.]+/g).map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
				const style = getComputedStyle(window.hovered), [a, b] = [light(style.color), light(style.backgroundColor)];
				return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) >= 4.5 })()`)) // path
		}
	}
	c.calm()
}

// awaitApproval waits until the provider has approved a template.
func (s *stage) awaitApproval(number, name string) {
	s.t.Helper()
	s.becomesTrue(func() bool {
		s.call("POST", s.app.URL()+"/v1/"+number+"/templates/sync", "{}")
		return s.call("GET", s.app.URL()+"/v1/"+number+"/templates/"+name, "")["status"] == "approved"
	})
}
