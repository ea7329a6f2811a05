package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

func aDialogClosesWithItsScreen(c *colleague, number string) {
	id := c.stage.contact(number, "+15550007777", "Ida  Holm")

	// Digits are looked for among the people, too.
	c.jump("api k", "API keys")
	c.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	c.Find("dialog", "Search or jump to")
	c.Press("15550007777")
	c.Find("option", "Ida Holm Contact")
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
	c.Press(" Ida Holm")
	c.confirm("Delete contact")
	c.toast("Contact deleted")
	c.calm("status of 404")
}

// aSearchboxFollowsTheAddress looks for Jonas Okafor, and for an Ana.
func aSearchboxFollowsTheAddress(c *colleague) {
	c.open("contacts?search=okaf", "Contacts")
	value := `document.querySelector("input[type=search]").value`
	c.WaitFor(value + ` === "okaf"`)
	c.Fill("searchbox", "Search contacts", "ana ")
	c.WaitFor(`location.search === "?search=ana" && ` + value + ` === "ana "`)
	c.Click("link", "Contacts")
	c.WaitFor(`location.search === "" && ` + value + ` === ""`)
	c.row("Jonas Okafor")
	c.calm()
}

// TestLongLists is about the calls and the contacts of one number, in one window.
func TestLongLists(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.fill(number, 320, 1)
	storeCalls(s, 120)
	c := s.consoleAt(t, storage.RoleAdmin, "log", "Log")
	newCallsDoNotMoveWhatIsRead(c)
	s.label("VIP")
	aLongListFollowsWhatIsDoneToIt(c)
	whatIsReadOfAListStaysOutOfTheNext(c)
}

// aLongListFollowsWhatIsDoneToIt labels most of 321 contacts.
func aLongListFollowsWhatIsDoneToIt(c *colleague) {
	c.goTo("contacts", "Contacts")
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

// whatIsReadOfAListStaysOutOfTheNext narrows a list while more of it is read.
func whatIsReadOfAListStaysOutOfTheNext(c *colleague) {
	rows := func(many int) { c.WaitFor(fmt.Sprintf(`document.querySelectorAll("tbody tr").length === %d`, many)) }
	c.goTo("log", "Log")
	c.goTo("contacts", "Contacts")
	rows(50)
	eval[any](c.window, `void (real => (window.fetch = async (at, ...more) => {
		const answer = await real(at, ...more);
		if (/cursor=/.test(at)) {
			await new Promise(done => (window.release = done));
			setTimeout(() => (window.came = true), 50);
		}
		return answer;
	}))(fetch)`)
	c.Click("button", "Show more")
	c.WaitFor(`window.release !== undefined`)
	c.Fill("searchbox", "Search contacts", "Person 30")
	rows(11) // Person 30, and from 300 to 309
	eval[any](c.window, `window.release()`)
	c.WaitFor(`window.came === true`)
	rows(11)
	c.calm()
}

// Who narrows a list before its first rows have come sees what was asked for.
func aListIsNarrowedBeforeItIsThere(c *colleague, number string) {
	c.stage.contact(number, "+15550002222", "Bo")
	c.goTo("numbers", "Numbers")
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

// storeCalls stores calls of the last seconds, the newest with the highest number.
func storeCalls(s *stage, many int) {
	s.t.Helper()
	calls := make([]storage.APICall, many)
	organization := s.tenant.Organization.ID
	for i := range calls {
		calls[i] = storage.APICall{
			OrganizationID: &organization, KeyID: &s.tenant.Key.ID, Method: "GET", Path: fmt.Sprintf("/v1/old/%d", i), Status: 200,
			RequestID: s.app.DB.NewID(storage.PrefixRequest), CreatedAt: storage.Now() - storage.Time(1000*(len(calls)-i)),
		}
	}
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertAPICalls(calls) })
}

// newCallsDoNotMoveWhatIsRead is about 120 calls in the log, and one more.
func newCallsDoNotMoveWhatIsRead(c *colleague) {
	c.row("/v1/old/119")
	c.Click("button", "Show more")
	c.row("/v1/old/30")
	eval[any](c.window, `void (document.getElementById("main").scrollTop = 2000)`)
	c.stage.keyStatus(c.stage.tenant.Secret)
	c.Find("button", "1 new")
	c.is.True(eval[bool](c.window, `!document.querySelector("tbody").textContent.includes("/v1/me")`))
	c.shoot("log-new")
	c.Click("button", "1 new")
	c.row("/v1/me")
	c.is.Equal(eval[float64](c.window, `document.getElementById("main").scrollTop`), 0.0)
	c.calm()
}
