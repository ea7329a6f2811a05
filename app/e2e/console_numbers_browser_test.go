package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/app"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestANumberShowsHowItFares(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	phone := s.phoneOf(number)
	text := `"type":"text","text":{"body":"Hello"}`
	for range 3 {
		s.await(number, s.send(number, "+15550001111", text), isStatus("read"))
	}
	for range 2 {
		s.await(number, s.send(number, "+1999000131026", text), isStatus("failed"))
	}
	s.heard(number, `"type":"text","text":{"body":"hi"}`)

	c := s.console(t, storage.RoleAdmin)
	c.Click("link", "Numbers")
	c.heading("Numbers")
	c.row(phone, "connected")
	c.shoot("numbers")
	c.Click("link", phone)
	c.heading(phone)
	c.is.Equal(c.at(), "numbers/"+number)
	c.text("Sends and receives messages.")
	c.WaitFor(`[...document.querySelectorAll(".card")].map(e => e.textContent).join() === "Sent3,Delivered3,Read3,Failed2,Received1"`)
	c.row("131026", "recipient_unavailable", "Check the number.", "2")
	c.text(s.app.URL() + "/provider/webhook")
	c.fits()
	c.shoot("number")

	c.Click("button", "Disconnect")
	c.Find("dialog", "Disconnect "+phone+"?")
	c.shoot("number-disconnect")
	c.Click("button", "Disconnect")
	c.toast("Disconnected")
	c.text("Disconnected in the console by Mira Kovač.")
	c.open("settings/health", "Health")
	c.text("disconnected")
	c.text("5 messages on the self_hosted plan, which has no limit.")
	c.WaitFor(`[...document.querySelectorAll("figcaption")].map(e => e.textContent).join() === "Received1,Sent3,Delivered3,Read3,Failed2"`)
	c.row("131026", "2")
	eval[any](c.window, `void document.querySelectorAll("main summary").forEach(e => e.click())`)
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("[aria-label=Failed] tbody tr").length`), 30.0)
	c.fits()
	c.open("settings/health", "Health")
	c.text("Last 30 days")
	c.shoot("health")
	c.open("numbers/1065403522", "Not found")
	c.calm()

	agent := s.consoleAt(t, storage.RoleAgent, "numbers/"+number, phone)
	agent.row("131026", "2")
	for _, name := range agent.All("button") {
		agent.is.True(name != "Connect again" && name != "Check now" && name != "Disconnect")
	}
	agent.calm()
}

func TestANumberWhoseTokenExpiredIsConnectedAgain(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	phone := s.phoneOf(number)
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.SetAccessToken(a, "EAAexpired")
	})
	s.says(number, "15550001111", "Ana Ruiz", textOf("Hello?"))
	c := s.consoleAt(t, storage.RoleAdmin, "numbers/"+number, phone)
	c.Click("button", "Check now")
	c.WaitFor(`document.querySelector(".toast.bad") !== null`)
	c.text("needs attention")

	// What people wrote stays in sight, and nothing is written that cannot be sent.
	c.open("inbox", "Inbox")
	c.Click("link", "Ana Ruiz")
	c.article("Hello?")
	c.shows("This number can’t send right now.")
	c.Gone("textbox", "Message")
	c.shoot("inbox-number-off")
	c.Click("link", "See why")
	c.heading(phone)
	c.shoot("number-degraded")
	c.Click("button", "Connect again")
	c.Find("dialog", "Connect again")
	c.Fill("textbox", "Access token", "EAAwrong")
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [name=access_token]").ariaInvalid === "true"`)
	c.is.True(strings.Contains(c.Find("textbox", "Access token").Description, "The provider rejected this token"))
	c.shoot("number-refused")
	c.Fill("textbox", "Access token", s.sim.Credentials().AccessToken)
	c.Click("button", "Connect")
	c.toast("Connected")
	c.Find("button", "Disconnect")
	c.text("Sends and receives messages.")
	s.await(number, s.send(number, "+15550001111", `"type":"text","text":{"body":"Back"}`), isStatus("read"))
	c.open("inbox", "Inbox")
	c.openConversation("Ana Ruiz")
	c.Find("textbox", "Message")
	c.calm("status of 400", "status of 422")
}

func TestANewNumberIsConnectedAndRegistered(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	n, err := s.sim.AddNumber(simulator.Number{Status: "PENDING", VerifiedName: "Café <i>Nord</i>"})
	if err != nil {
		t.Fatal(err)
	}
	c := s.consoleAt(t, storage.RoleAdmin, "numbers", "Numbers")
	c.Find("heading", "No numbers yet")
	c.shoot("numbers-none")
	c.Click("button", "New number")
	c.Find("dialog", "New number")
	c.Press(kb.Enter)
	c.is.Equal(c.Find("textbox", "Phone number id").Properties["invalid"], "true")
	c.Fill("textbox", "Phone number id", n.PhoneNumberID)
	c.Fill("textbox", "Business account id", "123456789")
	c.Fill("textbox", "Access token", s.sim.Credentials().AccessToken)
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [aria-invalid=true]") !== null`)
	c.shoot("number-new")
	c.Fill("textbox", "Business account id", n.WABAID)
	c.Click("button", "Connect")
	c.Gone("dialog", "New number")
	c.row("Café <i>Nord</i>", "not registered")
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

func TestASandboxMakesNumbersUp(t *testing.T) {
	parallelBrowser(t)
	you := new(string)
	s := startStage(t, func(o *app.Options, sim *simulator.Server) {
		o.SandboxUser = func() string { return *you }
		o.SimulateSignup = func(name, phone string) (app.Signup, error) {
			made, err := sim.Signup(name, phone)
			return app.Signup{Code: made.Code, WABAID: made.WABAID, PhoneNumberID: made.PhoneNumberID}, err
		}
	})
	c := s.console(t, storage.RoleAdmin)
	c.Visit(s.app.URL() + "/console/numbers?new=1")
	c.Find("dialog", "New number")
	c.shoot("number-made-up")
	c.Fill("textbox", "Name", "Second shop")
	c.Fill("textbox", "Number", "12")
	c.Click("button", "Connect")
	c.WaitFor(`document.querySelector("dialog [name=phone_number]").ariaInvalid === "true"`)
	c.Fill("textbox", "Number", "")
	c.Click("button", "Connect")
	c.Gone("dialog", "New number")
	c.row("Second shop", "connected")
	c.is.True(strings.Contains(string(s.exchange("GET", s.app.URL()+"/v1/accounts", "")), "Second shop"))
	c.calm("status of 400")
}
