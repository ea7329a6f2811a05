package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"confab/app/api"
	"confab/storage"
)

// ruleNames waits until the list of rules has these names, in this order.
func (c *colleague) ruleNames(names ...string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(".rule .switch")].map(s => s.ariaLabel)) === JSON.stringify(%s)`, jsStrings(names)))
}

// storedRules are the names of the rules that are on, and of those that are off, in their order.
func (s *stage) storedRules() (names []string) {
	s.t.Helper()
	var got struct {
		Data []struct {
			Name    string
			Enabled bool
		}
	}
	s.read("/rules", &got)
	for _, one := range got.Data {
		if !one.Enabled {
			one.Name += " (off)"
		}
		names = append(names, one.Name)
	}
	return names
}

// TestRules is about what happens by itself, in one window of an admin.
func TestRules(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "rules", "Rules")
	readyMadeRulesAreSwitchedOnAndOrdered(c)

	var all struct{ Data []struct{ ID string } }
	s.read("/rules", &all)
	for _, one := range all.Data {
		s.call("DELETE", s.app.URL()+"/v1/rules/"+one.ID, "")
	}
	s.call("POST", s.app.URL()+"/v1/labels", `{"name":"Sales"}`)
	s.says(number, "15550001111", "Ana Ruiz", textOf("What is the price of the lamp?"))
	s.says(number, "15550002222", "Bo Berg", textOf("Hello"))
	aRuleIsWrittenAndTriedAsASentence(c)
	aRuleIsDone(c, number)
	aRuleIsChangedAndDeleted(c)
	theTemplateOfARuleIsFilledAnew(c, number)
}

// readyMadeRulesAreSwitchedOnAndOrdered begins without rules.
func readyMadeRulesAreSwitchedOnAndOrdered(c *colleague) {
	s := c.stage
	const away, welcome, quiet = "Away message outside hours", "Welcome on first contact", "Close after 14 quiet days"
	stored := func(names ...string) {
		c.t.Helper()
		s.becomesTrue(func() bool { return fmt.Sprint(s.storedRules()) == fmt.Sprint(names) })
	}

	c.shows("No rules yet")
	c.shows("When a conversation is quiet for 14 days, resolve it.")
	c.shoot("rules-none")
	for i, name := range []string{away, welcome, quiet} {
		c.Click("checkbox", name)
		c.ruleNames([]string{away, welcome, quiet}[:i+1]...)
	}
	stored(away, welcome, quiet)
	c.Gone("heading", "Ready-made")

	c.Click("checkbox", welcome)
	stored(away, welcome+" (off)", quiet)
	c.shoot("rules")
	c.fits()

	// By keyboard: the button that was pressed keeps the focus.
	c.Focus("button", "Move "+quiet+" up")
	c.Press("\r", "\r", "\r") // the third has nowhere to go
	c.ruleNames(quiet, away, welcome)
	c.shows(quiet + " is now 1 of 3")
	c.is.Equal(eval[string](c.window, `document.activeElement.textContent`), "Move "+quiet+" up")
	stored(quiet, away, welcome+" (off)")

	// By the pointer.
	c.drag(`document.querySelectorAll(".rule-handle")[0]`, `document.querySelectorAll(".rule-handle")[2]`)
	c.ruleNames(away, welcome, quiet)
	stored(away, welcome+" (off)", quiet)

	// A colleague's rule comes by itself.
	s.call("POST", s.app.URL()+"/v1/rules", `{"name":"Theirs","on":"message_received","then":[{"note":"x"}]}`)
	c.ruleNames(away, welcome, quiet, "Theirs")
	c.calm()
}

// A rule is written as a sentence and tried on what people wrote: Ana asked for a price.
func aRuleIsWrittenAndTriedAsASentence(c *colleague) {
	c.shows("No rules yet")
	c.Click("button", "New rule")
	c.heading("New rule")
	c.Click("button", "Save")
	c.shows("This is required")

	c.Fill("textbox", "Name", "Prices")
	c.Click("button", "Add condition")
	c.Click("menuitem", "Text")
	c.WaitFor(`document.activeElement.ariaLabel === "Match"`) // where to go on
	c.Fill("textbox", "Words", "price، how much;")
	c.Fill("textbox", "Reply", "Our prices are on the website.")
	c.Click("button", "Add action")
	c.Click("menuitem", "Add label")
	c.Click("button", "Save")
	c.shows("This is required")
	c.pick("Add label", "Sales")
	c.Click("button", "Try on the last 7 days")
	c.shows("1 of 2 messages matched")
	c.Find("link", "What is the price of the lamp?")
	c.shoot("rule-new")
	c.fits()
	c.Click("button", "Save")
	c.toast("Rule saved")
	c.heading("Rules")
	c.shows("When a message arrives and the text contains “price” or “how much”, reply “Our prices are on the website.” and add the label Sales.")
	c.calm("status of 400")
}

// aRuleIsDone when somebody else asks for a price.
func aRuleIsDone(c *colleague, number string) {
	s := c.stage
	s.says(number, "15550003333", "Cy Chen", textOf("How much is it?"))
	c.Click("link", "Prices")
	c.heading("Prices")
	s.becomesTrue(func() bool {
		var got struct{ Data []struct{ Source string } }
		s.read("/"+number+"/messages?direction=outbound", &got)
		return len(got.Data) == 1 && got.Data[0].Source == "rule"
	})
	c.Do(chromedp.Reload())
	c.row("reply: done, add label: done")
	c.Find("textbox", "Words")
	c.shoot("rule")
	c.fits()
	c.calm()
}

// aRuleIsChangedAndDeleted on its page.
func aRuleIsChangedAndDeleted(c *colleague) {
	c.pick("When", "a conversation is quiet")
	c.Fill("spinbutton", "Length", "3")
	c.pick("Unit", "hours")
	c.Click("button", "Remove Text")
	c.Click("button", "Remove Reply")
	c.WaitFor(`document.activeElement.textContent === "Add action"`)
	c.Click("button", "Save")
	c.shows("When a conversation is quiet for 3 hours, add the label Sales.")
	c.Click("link", "Prices")
	c.heading("Prices")
	c.Click("button", "Delete")
	c.confirm("Delete")
	c.toast("Rule deleted")
	c.shows("No rules yet")
	c.calm()
}

// What a stored rule fills a template with can be changed.
func theTemplateOfARuleIsFilledAnew(c *colleague, number string) {
	s := c.stage
	s.template(number, "welcome", `[{"type":"BODY","text":"Hi {{1}}, your table is {{2}}.","example":{"body_text":[["Ana","seven"]]}}]`)
	s.call("POST", s.app.URL()+"/v1/rules", `{"name":"Table","on":"message_received","then":[{"reply":{"template":{"name":"welcome","language":"en_US",
		"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":"seven"}]}]}}}]}`)
	c.Click("link", "Table")
	c.heading("Table")
	c.WaitFor(`document.querySelector(".template-form input")?.value === "Ana"`)
	c.Fill("textbox", "{{2}}", "nine")
	c.Click("button", "Save")
	c.toast("Rule saved")
	var got struct {
		Data []struct {
			Then []struct {
				Reply struct {
					Template struct {
						Components []struct{ Parameters []struct{ Text string } }
					}
				}
			}
		}
	}
	s.read("/rules", &got)
	c.is.Equal(fmt.Sprint(got.Data[0].Then[0].Reply.Template.Components), "[{[{Ana} {nine}]}]")
	c.calm()
}

// hoursArePainted, or written, on the page of a number.
func hoursArePainted(c *colleague, number string) {
	c.Click("checkbox", "Always open")
	c.Fill("textbox", "Monday", "09:15-12:30, 14:00-24:00")
	c.Fill("textbox", "Tuesday", "12:00-09:00")
	c.pick("Time zone", "Europe/Madrid")
	c.Fill("textbox", "Holidays", "2030-12-24 09:00-12:00 Christmas Eve\n2030-12-25 Christmas")
	c.Click("button", "Save hours")
	c.shows("This must be two times")
	c.Fill("textbox", "Tuesday", "")
	c.drag(`document.querySelectorAll(".day-strip")[1].children[20]`, `document.querySelectorAll(".day-strip")[1].children[35]`)
	c.Click("button", "Save hours")
	c.toast("Hours saved")
	c.shoot("number-hours")
	c.fits()

	var got struct{ Data api.HoursView }
	c.stage.read("/"+number+"/hours", &got)
	c.is.Equal(got.Data.Timezone, "Europe/Madrid")
	c.is.Equal(fmt.Sprint(got.Data.Weekly["mon"], got.Data.Weekly["tue"], got.Data.Weekly["wed"], got.Data.Weekly["sun"]), "[[09:15 12:30] [14:00 24:00]] [[10:00 18:00]] [[09:00 17:00]] []")
	c.is.Equal(len(got.Data.Holidays), 2)
	c.calm("status of 400")
}

// optOutWordsAreSet on the page of a number.
func optOutWordsAreSet(c *colleague, number string) {
	c.Click("checkbox", "Follow opt-out words")
	c.Fill("textbox", "Stop words", "stop, basta")
	c.Fill("textbox", "Start words", "basta")
	c.Click("button", "Save")
	c.shows("must not be a stop word too")
	c.Fill("textbox", "Start words", "start")
	c.Fill("textbox", "Reply to a stop word", "You won’t get offers from us any more.")
	c.Click("button", "Save")
	c.toast("Saved")
	var words struct {
		Data struct {
			Enabled bool
			Stop    []string
		}
	}
	c.stage.read("/"+number+"/opt_out", &words)
	c.is.True(words.Data.Enabled)
	c.is.Equal(words.Data.Stop, []string{"stop", "basta"})

	c.calm("status of 400")
}

// drag moves the mouse from one element a little past another, with its button down.
func (c *colleague) drag(from, to string) {
	c.t.Helper()
	c.Do(chromedp.EmulateViewport(1280, 800))
	middle := func(element string) (x, y float64) {
		at := eval[[]float64](c.window, `(r => [r.x + r.width / 2, r.y + r.height / 2])(`+element+`.getBoundingClientRect())`)
		return at[0], at[1]
	}
	eval[any](c.window, from+`.scrollIntoView({ block: "center" })`)
	x, y := middle(from)
	toX, toY := middle(to)
	for _, one := range []struct {
		kind input.DispatchMouseEventType
		x, y float64
	}{
		{input.DispatchMouseEventTypeMousePressed, x, y},
		{input.DispatchMouseEventTypeMouseMoved, (x + toX) / 2, (y + toY) / 2},
		{input.DispatchMouseEventTypeMouseMoved, toX, toY + 5},
		{input.DispatchMouseEventTypeMouseReleased, toX, toY + 5},
	} {
		c.Do(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: one.kind, X: one.x, Y: one.y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}))
	}
}
