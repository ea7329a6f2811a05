package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// confirm presses a button of the dialog that is open: one of the page may be called the same.
func (c *colleague) confirm(name string) {
	c.t.Helper()
	c.WaitFor(`document.querySelector("dialog[open]") !== null`)
	eval[any](c.window, fmt.Sprintf(`void [...document.querySelectorAll("dialog[open] button")].find(b => b.textContent === %q).click()`, name))
}

// With a second team, forms for what belongs to a team ask for it.
func TestATeamIsMadeAndNumbersAskForIt(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	n, err := s.sim.AddNumber(simulator.Number{Status: "CONNECTED", VerifiedName: "Second shop"})
	if err != nil {
		t.Fatal(err)
	}
	c := s.consoleAt(t, storage.RoleAdmin, "settings/people", "People")
	c.text("Default")
	c.Click("button", "New team")
	c.Find("dialog", "New team")
	c.confirm("Save")
	c.is.Equal(c.Find("textbox", "Name").Properties["invalid"], "true")
	c.Fill("textbox", "Name", "Night "+markup)
	c.confirm("Save")
	c.toast("Saved")
	c.text("Night " + markup)
	c.unharmed()
	c.shoot("people-teams")
	c.fits()

	c.open("numbers", "Numbers")
	c.Click("button", "New number")
	c.Find("dialog", "New number")
	c.Fill("textbox", "Phone number id", n.PhoneNumberID)
	c.Fill("textbox", "Business account id", n.WABAID)
	c.Fill("textbox", "Access token", s.sim.Credentials().AccessToken)
	c.pick("Team", "Night "+markup)
	c.Click("button", "Connect")
	c.toast("Connected")
	var all struct {
		Data []struct {
			TeamID string `json:"team_id"`
		}
	}
	s.list("/v1/accounts", &all)
	var me struct {
		Data struct{ Teams []struct{ ID, Name string } }
	}
	s.list("/v1/me", &me)
	c.is.Equal(all.Data[0].TeamID, me.Data.Teams[1].ID)
	c.open("log/audit?action=team.", "Log")
	c.row("Team created", "Mira Kovač")
	c.calm()
}

func TestANumberIsDeletedWithAllThatBelongsToIt(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	phone := s.phoneOf(number)
	c := s.consoleAt(t, storage.RoleAdmin, "numbers/"+number, phone)
	c.Gone("button", "Delete") // it is in use
	c.Click("button", "Disconnect")
	c.confirm("Disconnect")
	c.toast("Disconnected")
	c.Click("button", "Delete")
	c.Find("dialog", "Delete "+phone+"?")
	c.shoot("number-delete")
	c.Fill("textbox", "Type “"+number+"” to confirm", number)
	c.confirm("Delete")
	c.toast("Number deleted")
	c.heading("Numbers")
	c.Find("heading", "No numbers yet")
	c.open("log/audit?action=number.", "Log")
	c.row("Number removed", number)
	c.calm("status of 404") // of what was being read when it went
}

func TestASetupLinkLeadsElsewhereAfterwards(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	path := s.app.URL() + "/v1/customers"
	id := s.call("POST", path, `{"name":"Bakery Nord"}`)["id"].(string)
	path += "/" + id + "/setup_links"
	link := s.call("POST", path, `{"success_redirect_url":"https://example.com/old","failure_redirect_url":"https://example.com/sorry"}`)["id"].(string)
	c := s.consoleAt(t, storage.RoleAdmin, "customers/"+id, "Bakery Nord")
	c.edit("active", "Edit")
	c.Find("dialog", "Edit link")
	c.is.Equal(c.Find("textbox", "Redirect to").Value, "https://example.com/old")
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
	c.calm("status of 400")
}

// An event need not be about a message. It is shown all the same, with where it went.
func TestAnEventAboutNoMessageIsShown(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	r := newReceiver(t, nil)
	id, _ := s.hook(r.URL, "contact.created")
	number := s.connect()
	s.call("POST", s.app.URL()+"/v1/"+number+"/contacts", `{"phone_number":"+15550004711","name":`+quoted(markup)+`}`)
	r.next()
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks/"+id, r.URL)
	c.Find("complementary", "Events")
	c.Click("link", "contact.created")
	c.heading("contact.created")
	c.is.True(strings.HasPrefix(c.at(), "trace/evt_"))
	c.row("contact.created", "delivered")
	c.text(`"phone_number": "+15550004711"`)
	c.text(strings.ReplaceAll(markup, `"`, `\"`))
	c.unharmed()
	c.shoot("event")
	c.fits()
	c.calm("status of 404") // of the trace, which it has none of
}

// A key got into wrong hands: what was done with it, another one for the program, and it is
// of no use any more.
func TestALeakedKeyIsReplaced(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "settings/keys", "API keys")
	c.newKey("old shop", "Never")
	leaked := c.shown()[0]
	c.Click("button", "Done")
	ask(t, "GET", s.app.URL()+"/v1/"+number+"/contacts", nil, "Authorization: Bearer "+leaked)
	s.send(number, "+15550001111", `"type":"text","text":{"body":"by another key"}`)

	// What it was used for is one step away.
	c.row("old shop", "now", "active")
	eval[any](c.window, `void [...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes("old shop")).querySelector("a").click()`)
	c.heading("Log")
	c.row("GET", "/v1/"+number+"/contacts", "200", "old shop")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(c.Find("combobox", "Key").Value, "old shop")
	c.shoot("log-of-key")

	c.open("settings/keys", "API keys")
	c.newKey("shop", "In 30 days")
	fresh := c.shown()[0]
	c.Click("button", "Done")
	c.row("shop", eval[string](c.window, `new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }).format(Date.now() + 30 * 86400000)`), "active")
	c.edit("old shop", "Revoke")
	c.Find("dialog", "Revoke “old shop”?")
	c.confirm("Revoke")
	c.toast("Key revoked")
	c.row("old shop", "revoked")
	c.is.Equal(s.keyStatus(leaked), 401)
	c.is.Equal(s.keyStatus(fresh), 200)
	c.open("log/audit?action=key.", "Log")
	c.row("API key revoked", "Mira Kovač")
	c.calm()
}

// newKey makes a key, which is shown then.
func (c *colleague) newKey(label, lifetime string) {
	c.t.Helper()
	c.Click("button", "New key")
	c.Fill("textbox", "Label", label)
	c.pick("Expires", lifetime)
	c.Click("button", "Create key")
	c.Find("button", "Copy key")
}

func TestAWebhookTellsItsDay(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	r := newReceiver(t, nil)
	id, _ := s.hook(r.URL)
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks/"+id, r.URL)
	for range 3 {
		s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{}`)
		r.next()
	}
	c.WaitFor(`[...document.querySelectorAll(".card")].map(e => e.textContent).join().startsWith("Success rate, 24 h100%,Deliveries, 24 h3,")`) // by itself
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll(".card svg").length`), 2.0)                                                   // none of what never was
	c.open("webhooks", "Webhooks")
	c.row(r.URL, "100%", " ms")
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("tbody svg").length`), 1.0)
	c.calm()
}

// What people give names to is text wherever it is listed.
func TestWhatPeopleKeepIsTextEverywhere(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	for i, text := range hostileTexts {
		label := string([]rune(text)[:min(50, len([]rune(text)))])
		s.call("POST", s.app.URL()+"/v1/labels", `{"name":`+quoted(label)+`}`)
		s.call("POST", s.app.URL()+"/v1/quick_replies", fmt.Sprintf(`{"shortcut":"reply%d","text":%s}`, i, quoted(text)))
		s.call("POST", s.app.URL()+"/v1/customers", `{"name":`+quoted(text)+`}`)
		ask(t, "GET", s.app.URL()+"/v1/"+url.PathEscape(text), nil, "Authorization: Bearer "+s.tenant.Secret)
	}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		for _, text := range hostileTexts {
			if err := tx.InsertTeam(&storage.Team{OrganizationID: s.tenant.Organization.ID, Name: text}); err != nil {
				return err
			}
		}
		return nil
	})

	c := s.console(t, storage.RoleAdmin)
	for path, heading := range map[string]string{"settings/labels": "Labels", "settings/quick-replies": "Quick replies", "customers": "Customers", "settings/people": "People", "log": "Log"} {
		c.open(path, heading)
		for _, text := range hostileTexts {
			if path != "log" { // where addresses are escaped
				c.text(string([]rune(text)[:min(50, len([]rune(text)))]))
			}
		}
		c.unharmed()
		c.fits()
	}
	c.is.Equal(len(c.All("main")), 1)
	c.calm()
}
