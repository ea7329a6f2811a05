package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/matryer/is"
)

func TestThePhoneScreenMovesTheClock(t *testing.T) {
	parallelBrowser(t)
	p := newPlayground(t)
	o := &onlooker{window: openWindow(t), t: t, is: is.New(t)}
	o.Do(chromedp.EmulateViewport(1280, 800))
	badge := func(text string) {
		t.Helper()
		o.WaitFor(`document.querySelector("[role=group][aria-label=Clock] time") && document.querySelector(".badge").textContent === "` + text + `"`)
		shown, err := time.Parse(time.RFC3339, eval[string](o.window, `document.querySelector("[aria-label=Clock] time").dateTime`))
		o.is.NoErr(err)
		var clock moved
		p.read("/clock", &clock)
		o.is.True(clock.Now.Sub(shown).Abs() < 2*time.Minute)
	}

	o.Visit(p.state.ConsoleURL + "phone")
	badge("Sandbox")
	o.WaitFor(`document.querySelector("[role=log] article") !== null`) // all is there, and stays where it is
	o.press("Move clock")                                              // by 25 hours, unless another span is chosen
	badge("Sandbox +1d 1h")
	o.shoot("phone-clock")

	// Any page that is open follows a move from elsewhere; so does what it says of the window.
	o.Visit(p.state.ConsoleURL + "inbox")
	o.WaitFor(`document.body.textContent.includes("Ana Ruiz")`)
	run(t, "trigger", "clock", "--advance", "23h", "--data-dir", p.dir)
	o.WaitFor(`document.querySelector(".badge").textContent === "Sandbox +2d"`)
	o.WaitFor(`document.body.textContent.includes("Ana Ruiz")`)
	eval[any](o.window, `void document.querySelector("a[href*='/inbox/']").click()`)
	o.WaitFor(`document.body.textContent.includes("You can only send a template now")`)
	o.complains("status of 401") // of a session that ended meanwhile
}
