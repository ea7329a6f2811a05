package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestCustomers is about one after the other, in one window of an admin.
func TestCustomers(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.consoleAt(t, storage.RoleAdmin, "customers", "Customers")
	aCustomerIsMade(c)
	whatOthersChangeOfACustomerIsKept(c)
	aSetupLinkIsMadeAndRevoked(c)
	aCustomerIsSuspendedAndArchived(c)
	anArchivedCustomerIsFoundAndRestored(c)

	aCustomersNumberIsDisconnected(c)
	aSetupLinkLeadsElsewhereAfterwards(c)
}

// aCustomerIsMade makes the first, and ends on its page.
func aCustomerIsMade(c *colleague) {
	c.Find("heading", "No customers yet")
	c.shoot("customers-none")
	c.Click("button", "New customer")
	c.Find("dialog", "New customer")
	c.Fill("textbox", "Name", "Bakery "+markup)
	c.Fill("textbox", "Email", "no address")
	c.saveIn()
	c.WaitFor(`document.querySelector("dialog input[name=email]").ariaInvalid === "true"`)
	c.Fill("textbox", "Email", "nord@example.com")
	c.saveIn()
	c.heading("Bakery " + markup)
	c.unharmed()
	c.Fill("textbox", "Name", "Bakery Nord")
	c.Click("button", "Save")
	c.toast("Saved")
	c.heading("Bakery Nord")
	c.calm("status of 400")
}

// customer is what the API has of the customer whose page is open.
func (c *colleague) customer() map[string]any {
	c.t.Helper()
	return c.stage.call("GET", c.stage.app.URL()+"/v1/"+c.at(), "")
}

// Fields being edited stay, and the others follow what others write. It ends as Bakery South.
func whatOthersChangeOfACustomerIsKept(c *colleague) {
	s, url := c.stage, c.stage.app.URL()+"/v1/"+c.at()
	c.Fill("textbox", "Name", "Bakery South")
	s.call("PATCH", url, `{"name":"Bakery West","email":"west@example.com"}`)
	c.heading("Bakery West")
	c.WaitFor(`document.querySelector("input[name=email]").value === "west@example.com"`)
	s.call("PATCH", url, `{"email":"south@example.com"}`)
	c.Click("button", "Save")
	c.heading("Bakery South")
	c.is.Equal(c.customer()["email"], "south@example.com")
	c.is.Equal(c.customer()["name"], "Bakery South")
	c.WaitFor(`document.querySelector("input[name=email]").value === "south@example.com"`)
	eval[any](c.window, `void (window.saved = document.querySelector(".toast").dataset.toast)`)
	c.Click("button", "Save") // nothing was typed
	c.WaitFor(`document.querySelector(".toast").dataset.toast > saved`)
	c.is.Equal(c.customer()["name"], "Bakery South")
	c.calm()
}

// aSetupLinkIsMadeAndRevoked on the page of a customer; it is shown once.
func aSetupLinkIsMadeAndRevoked(c *colleague) {
	c.Click("button", "New link")
	c.Find("dialog", "New link")
	c.Fill("textbox", "Redirect to", "nowhere")
	c.Click("button", "Create link")
	c.WaitFor(`document.querySelector("dialog input[name=success_redirect_url]").ariaInvalid === "true"`)
	c.Fill("textbox", "Redirect to", "https://example.com/done")
	c.Click("button", "Create link")
	c.Find("button", "Copy link")
	c.shoot("customer-link")
	link := c.shown()[0]
	c.Find("link", "Open the page your customer sees")
	c.is.True(strings.Contains(link, "/onboard/csl_"))
	c.is.Equal(answers(c.t, link), 200)
	c.Click("button", "Done")
	c.row("…"+link[len(link)-4:], "active")
	c.keepsNowhere(link)
	c.edit("active", "Revoke")
	c.Find("dialog", "Revoke this link?")
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.toast("Link revoked")
	c.row("…"+link[len(link)-4:], "revoked")
	c.calm("status of 400")
}

// aCustomerIsSuspendedAndArchived on the page of Bakery South.
func aCustomerIsSuspendedAndArchived(c *colleague) {
	c.Click("button", "Suspend")
	c.shows("Its numbers can’t send until you resume it.")
	c.is.Equal(c.customer()["status"], "suspended")
	c.Click("button", "Resume")
	c.Find("button", "Suspend")
	c.shoot("customer")
	c.fits()
	c.Click("button", "Archive")
	c.Find("dialog", "Archive Bakery South?")
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.Find("button", "Restore")
	c.Gone("button", "New link")
	c.is.Equal(c.customer()["status"], "archived")
	c.calm()
}

// anArchivedCustomerIsFoundAndRestored: Bakery South, the only one.
func anArchivedCustomerIsFoundAndRestored(c *colleague) {
	c.goTo("customers", "Customers")
	c.Find("heading", "No customers yet")
	c.goTo("customers?status=archived", "Customers")
	c.row("Bakery South", "archived", "south@example.com")
	c.shoot("customers")
	c.Fill("searchbox", "Search customers", "zzz")
	c.shows("No customers match.")
	c.Fill("searchbox", "Search customers", "bakery")
	c.Click("link", "Bakery South")
	c.heading("Bakery South")
	c.Click("button", "Restore")
	c.Find("button", "Archive")
	c.is.Equal(c.customer()["status"], "pending")
	c.goTo("customers/cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Not found")
	c.goTo("customers", "Customers") // else it looks again when others come
	c.calm("status of 404")
}

func aCustomersNumberIsDisconnected(c *colleague) {
	s := c.stage
	id := s.call("POST", s.app.URL()+"/v1/customers", `{"name":"Bakery Nord"}`)["id"].(string)
	number := s.connect()
	storagetest.Exec(c.t, s.app.Config.DataDir, fmt.Sprintf(`UPDATE accounts SET customer_id = %q WHERE phone_number_id = %q`, id, number))
	s.app.DB.DropCaches()

	c.goTo("customers/"+id, "Bakery Nord")
	c.WaitFor(`document.querySelector("table a") !== null`)
	phone := eval[string](c.window, `document.querySelector("table a").textContent`)
	c.Click("button", "Disconnect")
	c.Find("dialog", "Disconnect "+phone+"?")
	c.shoot("customer-disconnect")
	c.Fill("textbox", "Type “"+phone+"” to confirm", phone)
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.toast("Disconnected")
	c.shows("No numbers connected yet.")
	c.is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+id, "")["whatsapp_accounts"], []any{})
	c.calm("/counts") // the frame may ask once more how many are unread at the number
}

func aSetupLinkLeadsElsewhereAfterwards(c *colleague) {
	s := c.stage
	path := s.app.URL() + "/v1/customers"
	id := s.call("POST", path, `{"name":"Bakery East"}`)["id"].(string)
	path += "/" + id + "/setup_links"
	link := s.call("POST", path, `{"success_redirect_url":"https://example.com/old","failure_redirect_url":"https://example.com/sorry"}`)["id"].(string)
	c.goTo("customers/"+id, "Bakery East")
	c.edit("active", "Edit")
	c.Find("dialog", "Edit link")
	c.is.Equal(c.Describe("textbox", "Redirect to").Value, "https://example.com/old")
	c.Fill("textbox", "Redirect to", "nowhere")
	c.confirm("Save")
	c.WaitFor(`document.querySelector("dialog input[name=success_redirect_url]").ariaInvalid === "true"`)
	c.Fill("textbox", "Redirect to", "https://example.com/new")
	c.Fill("textbox", "If setup fails, redirect to", "")
	c.shoot("customer-link-edit")
	c.confirm("Save")
	c.Gone("dialog", "Edit link")
	now := s.call("GET", path+"/"+link, "")
	c.is.Equal(now["success_redirect_url"], "https://example.com/new")
	c.is.Equal(now["failure_redirect_url"], nil)
	c.calm("status of 400", "/counts") // of the number that was disconnected before
}

// saveIn presses the button of the form in a dialog.
func (c *colleague) saveIn() {
	c.t.Helper()
	eval[any](c.window, `void document.querySelector("dialog button[type=submit]").click()`)
}

// answers is the status of a page.
func answers(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}
