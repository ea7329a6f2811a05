package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestACustomerLivesInTheConsole(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.consoleAt(t, storage.RoleAdmin, "customers", "Customers")
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
	id := strings.TrimPrefix(c.at(), "customers/")
	customer := func() map[string]any { return s.call("GET", s.app.URL()+"/v1/customers/"+id, "") }
	status := func() any { return customer()["status"] }

	// Fields being edited stay, and the others follow what others write.
	c.Fill("textbox", "Name", "Bakery South")
	s.call("PATCH", s.app.URL()+"/v1/customers/"+id, `{"name":"Bakery West","email":"west@example.com"}`)
	c.heading("Bakery West")
	c.WaitFor(`document.querySelector("input[name=email]").value === "west@example.com"`)
	s.call("PATCH", s.app.URL()+"/v1/customers/"+id, `{"email":"south@example.com"}`)
	c.Click("button", "Save")
	c.heading("Bakery South")
	c.is.Equal(customer()["email"], "south@example.com")
	c.is.Equal(customer()["name"], "Bakery South")
	c.WaitFor(`document.querySelector("input[name=email]").value === "south@example.com"`)
	eval[any](c.window, `void (window.saved = document.querySelector(".toast").dataset.toast)`)
	c.Click("button", "Save") // nothing was typed
	c.WaitFor(`document.querySelector(".toast").dataset.toast > saved`)
	c.is.Equal(customer()["name"], "Bakery South")

	// A link is made, copied once, and revoked.
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
	c.is.Equal(answers(t, link), 200)
	c.Click("button", "Done")
	c.row("…"+link[len(link)-4:], "active")
	c.keepsNowhere(link)
	c.edit("active", "Revoke")
	c.Find("dialog", "Revoke this link?")
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.toast("Link revoked")
	c.row("…"+link[len(link)-4:], "revoked")

	// It is suspended, resumed, archived and restored.
	c.Click("button", "Suspend")
	c.shows("Its numbers can’t send until you resume it.")
	c.is.Equal(status(), "suspended")
	c.Click("button", "Resume")
	c.Find("button", "Suspend")
	c.shoot("customer")
	c.fits()
	c.Click("button", "Archive")
	c.Find("dialog", "Archive Bakery South?")
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.Find("button", "Restore")
	c.Gone("button", "New link")
	c.is.Equal(status(), "archived")

	c.open("customers", "Customers")
	c.Find("heading", "No customers yet")
	c.open("customers?status=archived", "Customers")
	c.row("Bakery South", "archived", "south@example.com")
	c.shoot("customers")
	c.Fill("searchbox", "Search customers", "zzz")
	c.shows("No customers match.")
	c.Fill("searchbox", "Search customers", "bakery")
	c.Click("link", "Bakery South")
	c.heading("Bakery South")
	c.Click("button", "Restore")
	c.Find("button", "Archive")
	c.is.Equal(status(), "pending")
	c.open("customers/cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Not found")
	c.calm("status of 400", "status of 404")
}

func TestACustomersNumberIsDisconnected(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	id := s.call("POST", s.app.URL()+"/v1/customers", `{"name":"Bakery Nord"}`)["id"].(string)
	number := s.connect()
	storagetest.Exec(t, s.app.Config.DataDir, fmt.Sprintf(`UPDATE accounts SET customer_id = %q WHERE phone_number_id = %q`, id, number))
	s.app.DB.DropCaches()

	c := s.consoleAt(t, storage.RoleAdmin, "customers/"+id, "Bakery Nord")
	phone := eval[string](c.window, `document.querySelector("table a").textContent`)
	c.Click("button", "Disconnect")
	c.Find("dialog", "Disconnect "+phone+"?")
	c.shoot("customer-disconnect")
	c.Fill("textbox", "Type “"+phone+"” to confirm", phone)
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.toast("Disconnected")
	c.shows("No numbers connected yet.")
	c.is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+id, "")["whatsapp_accounts"], []any{})
	c.calm()
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
