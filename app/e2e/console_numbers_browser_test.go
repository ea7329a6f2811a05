package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// cafe is what the number is called.
const cafe = "Café <i>Nord</i>"

// TestTheLifeOfANumber is the story of one, from the first screen to the last, in one window of an admin.
func TestTheLifeOfANumber(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	n, err := s.sim.AddNumber(simulator.Number{Status: "PENDING", VerifiedName: cafe})
	if err != nil {
		t.Fatal(err)
	}
	number := n.PhoneNumberID
	c := s.consoleAt(t, storage.RoleAdmin, "numbers", "Numbers")
	aNewNumberIsConnectedAndRegistered(c, n)
	hoursArePainted(c, number)
	optOutWordsAreSet(c, number)

	whatATokenThatExpiredStops(c, number)
	aNumberIsConnectedAgain(c, number)
	anAccountIDOpensItsNumber(c, number)
	aNumberShowsHowItFares(c, number)
	aDisconnectedNumberIsInOrderNoMore(c)
	aNumberIsDeletedWithAllThatBelongsToIt(c, number)
}

// aNewNumberIsConnectedAndRegistered ends on the page of the number, the first that there is.
func aNewNumberIsConnectedAndRegistered(c *colleague, n simulator.Number) {
	token := c.stage.sim.Credentials().AccessToken
	c.Find("heading", "No numbers yet")
	c.shoot("numbers-none")
	c.Click("button", "New number")
	c.Find("dialog", "New number")
	c.Press(kb.Enter)
	c.is.Equal(c.Describe("textbox", "Phone number id").Properties["invalid"], "true")
	c.Fill("textbox", "Phone number id", n.PhoneNumberID)
	c.Fill("textbox", "Business account id", "123456789")
	c.Fill("textbox", "Access token", token)
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [aria-invalid=true]") !== null`)
	c.shoot("number-new")
	c.Fill("textbox", "Business account id", n.WABAID)
	c.Click("button", "Connect")
	c.Gone("dialog", "New number")
	c.row("Café <i>Nord</i>", "not registered")
	c.fits()
	c.Click("link", "Café <i>Nord</i>")
	c.heading("Café <i>Nord</i>")
	c.Click("button", "Register")
	c.Find("dialog", "Register")
	c.Fill("textbox", "PIN", "12")
	c.Click("button", "Register")
	c.WaitFor(`document.querySelector("dialog [name=pin]").ariaInvalid === "true"`)
	c.Fill("textbox", "PIN", "123456")
	c.Click("button", "Register")
	c.toast("Registered")
	c.text("Sends and receives messages.")
	c.calm("status of 400", "status of 422")
}

// whatATokenThatExpiredStops is seen on the page of a number and in the inbox, which Ana Ruiz writes to.
func whatATokenThatExpiredStops(c *colleague, number string) {
	s := c.stage
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.SetAccessToken(a, "EAAexpired")
	})
	s.says(number, "15550001111", "Ana Ruiz", textOf("Hello?"))
	c.Click("button", "Check now")
	c.WaitFor(`document.querySelector(".toast.bad") !== null`)
	c.text("needs attention")

	// What people wrote stays in sight, and nothing is written that cannot be sent.
	c.goTo("inbox", "Inbox")
	c.Click("link", "Ana Ruiz")
	c.article("Hello?")
	c.shows("This number can’t send right now.")
	c.Gone("textbox", "Message")
	c.shoot("inbox-number-off")
	c.Click("link", "See why")
	c.heading(cafe)
	c.shoot("number-degraded")
	c.calm("status of 400", "status of 422")
}

// aNumberIsConnectedAgain with another token; then a message is sent.
func aNumberIsConnectedAgain(c *colleague, number string) {
	s := c.stage
	c.Click("button", "Connect again")
	c.Find("dialog", "Connect again")
	c.Fill("textbox", "Access token", "EAAwrong")
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [name=access_token]").ariaInvalid === "true"`)
	c.is.True(strings.Contains(c.Describe("textbox", "Access token").Description, "The provider rejected this token"))
	c.shoot("number-refused")
	c.Fill("textbox", "Access token", s.sim.Credentials().AccessToken)
	c.Click("button", "Connect")
	c.toast("Connected")
	c.Find("button", "Disconnect")
	c.text("Sends and receives messages.")
	s.await(number, s.send(number, "+15550001111", `"type":"text","text":{"body":"Back"}`), isStatus("read"))
	c.goTo("inbox", "Inbox")
	c.openConversation("Ana Ruiz")
	c.Find("textbox", "Message")
	c.calm("status of 400", "status of 422")
}

// anAccountIDOpensItsNumber which has lost its registration, and has it again afterwards.
func anAccountIDOpensItsNumber(c *colleague, number string) {
	s := c.stage
	account := storagetest.Select[string](c.t, s.app.Config.DataDir, `SELECT public_id FROM accounts`)[0]
	storagetest.Exec(c.t, s.app.Config.DataDir, `UPDATE accounts SET status = 'degraded', status_reason = 'The provider reports the number as DISCONNECTED.'`)
	s.app.DB.DropCaches()
	c.jump(account, cafe)
	c.WaitFor(`location.pathname === "/console/numbers/` + number + `"`)

	// One that lost its registration can be registered again.
	c.Find("button", "Register")
	c.text("If its registration was lost, register it again.")
	c.shoot("number-unregistered")
	storagetest.Exec(c.t, s.app.Config.DataDir, `UPDATE accounts SET status = 'connected', status_reason = NULL`)
	s.app.DB.DropCaches()
	c.calm()
}

// aNumberShowsHowItFares after two messages more that were read and two that failed; Ana Ruiz was
// answered before.
func aNumberShowsHowItFares(c *colleague, number string) {
	s := c.stage
	text := `"type":"text","text":{"body":"Hello"}`
	for range 2 {
		s.await(number, s.send(number, "+15550001111", text), isStatus("read"))
	}
	for range 2 {
		s.await(number, s.send(number, "+1999000131026", text), isStatus("failed"))
	}

	c.goTo("numbers", "Numbers")
	c.row(cafe, "connected")
	c.shoot("numbers")
	c.Click("link", cafe)
	c.heading(cafe)
	c.is.Equal(c.at(), "numbers/"+number)
	c.text("Sends and receives messages.")
	c.WaitFor(`[...document.querySelectorAll(".card")].map(e => e.textContent).join() === "Sent3,Delivered3,Read3,Failed2,Received1"`)
	c.row("131026", "recipient_unavailable", "Check the number.", "2")
	c.text(s.app.URL() + "/provider/webhook")
	c.fits()
	c.shoot("number")
	c.calm()
}

// aDisconnectedNumberIsInOrderNoMore but what it did stays.
func aDisconnectedNumberIsInOrderNoMore(c *colleague) {
	c.Gone("button", "Delete") // it is in use
	c.Click("button", "Disconnect")
	c.Find("dialog", "Disconnect "+cafe+"?")
	c.shoot("number-disconnect")
	c.Click("button", "Disconnect")
	c.toast("Disconnected")
	c.text("Disconnected in the console by Mira Kovač.")
	c.goTo("settings/health", "Health")
	c.text("disconnected")
	c.text("5 messages on the self_hosted plan, which has no limit.")
	c.WaitFor(`[...document.querySelectorAll("figcaption")].map(e => e.textContent).join() === "Received1,Sent3,Delivered3,Read3,Failed2"`)
	c.row("131026", "2")
	eval[any](c.window, `void document.querySelectorAll("main summary").forEach(e => e.click())`)
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("[aria-label=Failed] tbody tr").length`), 30.0)
	c.fits()
	c.text("Last 30 days")
	c.shoot("health")
	c.goTo("numbers/1065403522", "Not found")
	c.calm()
}

// aNumberIsDeletedWithAllThatBelongsToIt once it is disconnected.
func aNumberIsDeletedWithAllThatBelongsToIt(c *colleague, number string) {
	c.goTo("numbers/"+number, cafe)
	c.Click("button", "Delete")
	c.Find("dialog", "Delete "+cafe+"?")
	c.shoot("number-delete")
	c.Fill("textbox", "Type “"+number+"” to confirm", number)
	c.confirm("Delete")
	c.toast("Number deleted")
	c.heading("Numbers")
	c.Find("heading", "No numbers yet")
	c.goTo("log/audit?action=number.", "Log")
	c.row("Number removed", number)
	c.calm("status of 404") // of what was being read when it went
}

// phoneOf is the phone number of a business number.
func (s *stage) phoneOf(number string) string {
	s.t.Helper()
	var all struct {
		Data []struct {
			ID    string `json:"phone_number_id"`
			Phone string `json:"phone_number"`
		}
	}
	if err := json.Unmarshal(s.exchange("GET", s.app.URL()+"/v1/accounts?status=all", ""), &all); err != nil {
		s.t.Fatal(err)
	}
	for _, one := range all.Data {
		if one.ID == number {
			return one.Phone
		}
	}
	s.t.Fatalf("there is no number %s", number)
	return ""
}
