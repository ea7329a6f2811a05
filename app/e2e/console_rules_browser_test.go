package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

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

func TestReadyMadeRulesAreSwitchedOnAndOrdered(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.connect()
	c := s.console(t, storage.RoleAdmin)
	const away, welcome, quiet = "Away message outside hours", "Welcome on first contact", "Close after 14 quiet days"
	stored := func(names ...string) {
		t.Helper()
		s.becomesTrue(func() bool { return fmt.Sprint(s.storedRules()) == fmt.Sprint(names) })
	}

	c.open("rules", "Rules")
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

	agent := s.console(t, storage.RoleAgent)
	agent.open("rules", "Page not found")
	c.calm()
}

// drag moves the mouse from one element a little past another, with its button down.
func (c *colleague) drag(from, to string) {
	c.t.Helper()
	c.Do(chromedp.EmulateViewport(1280, 800))
	middle := func(element string) (x, y float64) {
		at := eval[[]float64](c.window, `(r => [r.x + r.width / 2, r.y + r.height / 2])(`+element+`.getBoundingClientRect())`)
		return at[0], at[1]
	}
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
