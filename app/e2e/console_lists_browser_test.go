package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

func TestAScreenWithoutANumberLeadsToTheNumbers(t *testing.T) {
	parallelBrowser(t)
	c := newStage(t).console(t, storage.RoleAdmin)
	for path, heading := range map[string]string{"contacts": "Contacts", "broadcasts": "Broadcasts", "templates": "Templates"} {
		c.open(path, heading)
		c.Find("heading", "No number connected")
		c.WaitFor(`document.querySelector(".empty a") !== null`)
	}
	eval[any](c.window, `void document.querySelector(".empty a").click()`)
	c.heading("Numbers")
	c.calm()
}

func TestADialogClosesWithItsScreen(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	id := s.contact(number, "+15550001111", "Ana  Ruiz")
	c := s.consoleAt(t, storage.RoleAdmin, "contacts", "Contacts")

	// Digits are looked for among the people, too.
	c.jump("api k", "API keys")
	c.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	c.Find("dialog", "Search or jump to")
	c.Press("15550001111")
	c.Find("option", "Ana Ruiz Contact")
	c.Press(kb.Enter)
	c.WaitFor(`location.pathname === "/console/contacts/` + id + `"`)

	c.Click("button", "Delete contact")
	c.WaitFor(`document.querySelector("dialog[open]") !== null`)
	eval[any](c.window, `history.back()`)
	c.heading("API keys")
	c.WaitFor(`document.querySelector("dialog") === null`)
	eval[any](c.window, `history.forward()`)

	// White space is typed as it is seen.
	c.Click("button", "Delete contact")
	c.WaitFor(`document.activeElement.matches("dialog input")`)
	c.Press(" Ana Ruiz")
	c.confirm("Delete contact")
	c.toast("Contact deleted")
	c.calm("status of 404")
}

func TestASearchboxFollowsTheAddress(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.contact(number, "+15550001111", "Ana Ruiz")
	s.contact(number, "+15550002222", "Jonas Okafor")
	c := s.consoleAt(t, storage.RoleAdmin, "contacts?search=okaf", "Contacts")
	value := `document.querySelector("input[type=search]").value`
	c.WaitFor(value + ` === "okaf"`)
	c.Fill("searchbox", "Search contacts", "ana ")
	c.WaitFor(`location.search === "?search=ana" && ` + value + ` === "ana "`)
	c.Click("link", "Contacts")
	c.WaitFor(`location.search === "" && ` + value + ` === ""`)
	c.row("Jonas Okafor")
	c.calm()
}

func TestALongListFollowsWhatIsDoneToIt(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.fill(number, 320, 1)
	s.label("VIP")
	c := s.consoleAt(t, storage.RoleAdmin, "contacts", "Contacts")
	rows := func(test string) { c.WaitFor(`(all => ` + test + `)([...document.querySelectorAll("tbody tr")])`) }
	for _, shown := range []string{"50", "100", "150", "200", "200"} {
		rows(`all.length === ` + shown + ` && all.at(-1).textContent !== window.last`)
		eval[any](c.window, `void (window.last = [...document.querySelectorAll("tbody tr")].at(-1).textContent)`)
		c.Click("button", "Show more")
	}
	rows(`all.length === 200 && all.at(-1).textContent !== window.last`)
	eval[any](c.window, `void document.querySelector("tbody input").click()`)
	c.Click("button", "Select all shown")
	c.shows("200 selected")
	c.Click("button", "Add label")
	c.Click("menuitem", "VIP")
	c.toast("200 changed")
	rows(`all.length === 200 && all.every(tr => tr.textContent.includes("VIP"))`)

	c.Click("button", "Show more")
	rows(`all.length === 200 && all.filter(tr => tr.textContent.includes("VIP")).length === 179`)
	c.Click("button", "First page")
	rows(`all.length === 50 && !all.some(tr => tr.textContent.includes("VIP"))`)
	c.calm()
}

func TestATraceOfSomebodyWithALongNameFits(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.contact(number, "+15550001111", strings.Repeat("x", 190))
	s.heard(number, `"from":"15550001111","type":"text","text":{"body":"hi"}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"Hello"}`)
	c := s.consoleAt(t, storage.RoleAdmin, "trace/"+id, "“Hello”")
	c.shows(strings.Repeat("x", 190))
	c.fits()
	c.calm()
}

// Who narrows a list before its first rows have come sees what was asked for.
func TestAListIsNarrowedBeforeItIsThere(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.contact(number, "+15550001111", "Ana")
	s.contact(number, "+15550002222", "Bo")
	c := s.console(t, storage.RoleAgent)
	c.heading("Inbox")
	eval[any](c.window, `void (real => (window.fetch = async (at, ...more) => {
		if (String(at).includes("/contacts?") && !window.release) await new Promise(done => (window.release = done));
		return real(at, ...more);
	}))(fetch)`)
	c.Click("link", "Contacts")
	c.WaitFor(`window.release !== undefined`)
	c.Fill("searchbox", "Search contacts", "Bo")
	c.WaitFor(`location.search === "?search=Bo"`)
	eval[any](c.window, `window.release()`)
	c.row("Bo")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.calm()
}
