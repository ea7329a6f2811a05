package e2e

import (
	"fmt"
	"testing"

	"confab/storage"
)

// fetches calls the API of the console without the knowledge of the open screen.
func (c *colleague) fetches(method, path string) {
	c.t.Helper()
	call := fmt.Sprintf(`fetch("/console/api/%s", { method: %q }).then(r => r.status)`, path, method)
	c.is.Equal(eval[float64](c.window, call), 200.0)
}

// A contact that is deleted elsewhere is shown no more, and a number leaves nothing.
func TestWhatIsDeletedElsewhereIsShownNoMore(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	id := s.contact(number, "+15550001111", "Ana")
	c := s.consoleAt(t, storage.RoleAdmin, "contacts/"+id, "Ana")
	c.Find("textbox", "Email")
	s.call("DELETE", s.app.URL()+"/v1/"+number+"/contacts/"+id, "")
	c.heading("Not found")
	c.Gone("textbox", "Email")
	c.WaitFor(`document.title === "Contacts · confab"`)

	c.Click("link", "Inbox")
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	c.WaitFor(`document.querySelector("#count-all").textContent === "1"`)
	c.Click("link", "Numbers")
	c.Click("link", s.phoneOf(number))
	c.heading(s.phoneOf(number))
	c.fetches("POST", number+"/disconnect")
	c.text("It can’t send.")
	c.fetches("DELETE", number)
	c.heading("Not found")
	c.Click("link", "Inbox")
	c.Find("heading", "No number connected yet")
	c.WaitFor(`document.querySelector("#count-all").textContent === ""`)
	c.calm("status of 404")
}
