package e2e

import (
	"fmt"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// contact makes a contact and returns its id.
func (s *stage) contact(number, phone, name string) string {
	s.t.Helper()
	return s.call("POST", s.app.URL()+"/v1/"+number+"/contacts", fmt.Sprintf(`{"phone_number":%q,"name":%q}`, phone, name))["id"].(string)
}

// label makes a label and returns its id.
func (s *stage) label(name string) string {
	s.t.Helper()
	return s.call("POST", s.app.URL()+"/v1/labels", fmt.Sprintf(`{"name":%q,"color":"violet"}`, name))["id"].(string)
}

// TestContacts is about the list of them, in one window of an admin.
func TestContacts(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "contacts", "Contacts")
	c.Find("heading", "No contacts yet")
	c.shoot("contacts-none")
	s.label("VIP")
	contactsAreFoundLabelledAndEdited(c, number)
	aSearchboxFollowsTheAddress(c)
	contactsAreImportedAfterATrial(c, number)
	contactsAreExported(c)
	aDialogClosesWithItsScreen(c, number)
}

// contactsAreFoundLabelledAndEdited makes Ana Ruiz and Jonas Okafor.
func contactsAreFoundLabelledAndEdited(c *colleague, number string) {
	s := c.stage
	ana := s.contact(number, "+15550001111", "Ana Ruiz")
	s.contact(number, "+15550002222", "Jonas Okafor")
	s.call("POST", s.app.URL()+"/v1/"+number+"/contacts", `{"phone_number":"+15550003333"}`)
	for i, text := range hostileTexts {
		s.contact(number, fmt.Sprintf("+1555000%04d", 9000+i), text)
	}
	c.reconnects()
	c.row("Ana Ruiz", "+15550001111")
	c.Find("link", "+15550003333") // the name is unknown
	for _, text := range hostileTexts {
		c.row(text)
	}
	c.unharmed()
	c.fits()

	c.Fill("searchbox", "Search contacts", "okaf")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.row("Jonas Okafor")
	c.WaitFor(`location.search === "?search=okaf"`)
	c.Fill("searchbox", "Search contacts", "nobody at all")
	c.shows("No contacts match.")
	c.Fill("searchbox", "Search contacts", "")
	c.row("Ana Ruiz")

	// Several are labelled at once, and found by the label.
	c.Click("checkbox", "Select Ana Ruiz")
	c.Click("checkbox", "Select Jonas Okafor")
	c.shows("2 selected")
	c.Click("button", "Add label")
	c.Click("menuitem", "VIP")
	c.toast("2 changed")
	c.row("Ana Ruiz", "VIP")
	c.shoot("contacts")
	c.pick("Label", "VIP")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 2`)

	// One is edited.
	c.Click("link", "Ana Ruiz")
	c.heading("Ana Ruiz")
	c.is.Equal(c.at(), "contacts/"+ana)
	c.Fill("textbox", "Email", "no address")
	c.Click("button", "Save")
	c.WaitFor(`document.querySelector("input[name=email]").ariaInvalid === "true"`)
	c.calm("status of 400")
}

// TestTheContactsPage is about one contact after the other, in one window of an admin.
func TestTheContactsPage(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.heard(number, `"from":"15550001111","name":"Ana","type":"text","text":{"body":"hi"}`)
	var found struct{ Data []struct{ ID string } }
	s.read("/"+number+"/contacts?phone_number=15550001111", &found)
	c := s.consoleAt(t, storage.RoleAdmin, "contacts/"+found.Data[0].ID, "Ana")
	everythingOfAContactIsChanged(c, number, found.Data[0].ID)
	aContactIsDeleted(c, found.Data[0].ID)
	whatOthersChangeIsKept(c, number)
	whatHappenedIsTold(c, number)
}

// everythingOfAContactIsChanged is about Ana, who has written; there are no labels yet.
func everythingOfAContactIsChanged(c *colleague, number, id string) {
	s := c.stage
	is := func(field string) any { return s.call("GET", s.app.URL()+"/v1/"+number+"/contacts/"+id, "")[field] }
	c.Find("link", "Create labels in settings")
	s.label("VIP")
	c.Find("checkbox", "VIP")
	c.Fill("textbox", "Name", "Ana "+markup)
	c.Fill("textbox", "Email", "ana@example.com")
	c.Click("button", "Save")
	c.toast("Saved")
	c.heading("Ana " + markup)
	c.is.Equal(is("email"), "ana@example.com")

	c.Click("checkbox", "VIP")
	c.WaitFor(`document.querySelector(".label-boxes input").checked`)
	s.becomesTrue(func() bool { return strings.Contains(fmt.Sprint(is("labels")), "VIP") })
	c.Click("checkbox", "VIP")
	s.becomesTrue(func() bool { return !strings.Contains(fmt.Sprint(is("labels")), "VIP") })

	c.Click("button", "Add field")
	c.Fill("textbox", "Field", "order")
	c.Fill("textbox", "Value", "#1042 "+markup)
	c.Click("button", "Save fields")
	s.becomesTrue(func() bool { return strings.Contains(fmt.Sprint(is("metadata")), "#1042") })
	c.shows("· they wrote to you")
	c.Click("button", "Withdraw consent")
	s.becomesTrue(func() bool { return is("opted_in") == false }) // a message had granted it
	c.shows("Not yet")
	c.Find("button", "Record consent")
	c.Find("link", "Open conversation")
	c.shows("No shared files.")
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.MarkOptedOut(id) })
	c.reconnects()
	c.shows("marketing stopped")
	c.unharmed()
	c.fits()
	c.shoot("contact")
	c.calm()
}

// aContactIsDeleted says what goes with it, and asks for the name: Ana is the only one.
func aContactIsDeleted(c *colleague, id string) {
	c.Click("button", "Delete contact")
	c.Find("dialog", "Delete Ana "+markup+"?")
	c.shows("all messages and their files. It can’t be undone.")
	c.shoot("contact-delete")
	c.Fill("textbox", "Type “Ana "+markup+"” to confirm", "Ana "+markup)
	eval[any](c.window, `void document.querySelector("dialog button.danger").click()`)
	c.toast("Contact deleted")
	c.heading("Contacts")
	c.Find("heading", "No contacts yet")
	c.goTo("contacts/"+id, "Not found")
	c.goTo("contacts", "Contacts") // else it looks again when others come
	c.calm("status of 404")
}

func whatHappenedIsTold(c *colleague, number string) {
	s := c.stage
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	conversation := s.says(number, "15550002222", "Ana Ruiz", textOf("Do you have the lamp?"))
	ana := s.conversation(number, conversation)["contact"].(map[string]any)["id"].(string)
	s.call("POST", s.app.URL()+"/v1/"+number+"/broadcasts", `{"name":"Spring","template":{"name":"news","language":"en"},"audience":{"contact_ids":["`+ana+`"]}}`)
	c.goTo("contacts/"+ana, "Ana Ruiz")
	c.WaitFor(`document.querySelector(".timeline")?.textContent.includes("Broadcast Spring read")`)
	facts := func(want string) {
		c.t.Helper()
		c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll(".consent > div")].map(d => d.querySelector("dt").textContent + ": " + d.querySelector("dd").textContent).join("; ").match(%q) !== null`, want))
	}
	facts("^May be messaged: Yes, since .* · they wrote to you.*; Marketing: Unknown")

	// The team takes it up and ends it, and the person has enough.
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+conversation, `{"status":"resolved"}`)
	s.play("POST", "/_sim/contacts/15550002222/identity", `{"phone_number":"15550009999"}`)
	s.awaitEvent("contact.identity_updated", saying(`"reason":"phone_number_changed"`))
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.MarkOptedOut(ana) })
	c.reconnects()
	c.WaitFor(`["Phone number changed from +15550002222 to +15550009999", "Resolved", "Conversation started", "Added to your contacts"].every(words => document.querySelector(".timeline").textContent.includes(words))`)
	facts("Marketing: Stopped by them")
	c.shoot("contact-timeline")
	c.fits()
	c.Click("link", "Spring")
	c.heading("Spring")
	c.goTo("contacts/"+ana, "Ana Ruiz")
	c.Click("link", "Open conversation")
	c.Find("region", "Conversation with Ana Ruiz")
	c.calm()
}

func whatOthersChangeIsKept(c *colleague, number string) {
	s := c.stage
	id := s.contact(number, "+15550003333", "Ana")
	url := s.app.URL() + "/v1/" + number + "/contacts/" + id
	s.call("PATCH", url, `{"metadata":{"order":"1","city":"Oslo","vip":true}}`)
	c.goTo("contacts/"+id, "Ana")
	c.WaitFor(`document.querySelectorAll(".pair").length === 3`)
	c.Fill("textbox", "Email", "ana@")
	c.Click("button", "Remove city")
	value := func(field string) string { return fmt.Sprintf(`document.querySelector("input[name=%s]").value`, field) }

	// Fields being edited stay, and the others follow what others write.
	s.call("PATCH", url, `{"name":"Ana Ruiz","email":"old@example.com","metadata":{"order":"2","city":"Oslo","vip":true,"plan":"pro"}}`)
	c.heading("Ana Ruiz")
	c.WaitFor(value("name") + ` === "Ana Ruiz" && ` + value("email") + ` === "ana@"`)
	c.Fill("textbox", "Email", "ana@example.com")
	s.call("PATCH", url, `{"username":"ana"}`)
	c.Click("button", "Save")
	c.toast("Saved")
	c.Click("button", "Save fields")
	c.WaitFor(`[...document.querySelectorAll(".pair input")].map(e => e.value).join() === "order,2,vip,true,plan,pro"`)

	now := s.call("GET", url, "")
	c.is.Equal(fmt.Sprintln(now["name"], now["email"], now["username"]), "Ana Ruiz ana@example.com ana\n")
	c.is.Equal(fmt.Sprint(now["metadata"]), "map[order:2 plan:pro vip:true]")
	c.Fill("textbox", "Email", "") // a cleared field is changed, too
	c.Click("button", "Save")
	s.becomesTrue(func() bool { return s.call("GET", url, "")["email"] == nil })
	c.calm()
}

func agentsKeepContactsButDeleteNone(c *colleague, number string) {
	id := c.stage.contact(number, "+15550001111", "Ana Ruiz")
	c.goTo("contacts", "Contacts")
	c.row("Ana Ruiz")
	c.Gone("button", "Import")
	c.Gone("button", "Export")
	c.Click("button", "New contact")
	c.Find("dialog", "New contact")
	c.Fill("textbox", "Phone number", "+15550001111")
	c.Click("button", "Save")
	c.WaitFor(`document.querySelector("dialog input").ariaInvalid === "true"`) // it is known
	c.Fill("textbox", "Phone number", "+15550004444")
	c.Click("button", "Save")
	c.heading("+15550004444")
	c.goTo("contacts/"+id, "Ana Ruiz")
	c.shows("No labels yet. Ask an admin to create them.")
	c.Gone("button", "Delete contact")
	c.calm("status of 409")
}

// becomesTrue waits until something is so.
func (s *stage) becomesTrue(test func() bool) {
	s.t.Helper()
	if !until(test) {
		s.t.Fatal("it never became true")
	}
}
