package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// A colleague is asked by a note, the conversation sleeps, and what waits is found.
func TestTheTeamLeavesNotesAndPutsOffWhatCanWait(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Where is my refund?"))
	s.says(number, "15550002222", "Bo Chen", textOf("Hello"))
	c := s.console(t, storage.RoleAgent)
	other := s.seated(t, "Bea Stone", "bea@example.com", storage.RoleAgent)
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { // with a name that begins hers
		return tx.InsertUser(&storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "Bea"})
	})
	c.count("Waiting", "2")
	c.Click("tab", "Waiting")
	c.showsRows("Ana Ruiz", "Bo Chen") // who waits longest is first
	c.is.Equal(c.Find("combobox", "Sort").Value, "Waiting longest")
	c.openConversation("Ana Ruiz")

	// A note is written in a field of its own, which cannot send, and @ names a colleague.
	c.Find("button", "Send")
	c.Click("tab", "Note")
	c.Gone("button", "Send")
	c.Focus("textbox", "Note")
	c.Press("Please approve, @bea s")
	c.Find("option", "Bea Stone")
	c.Press(kb.Enter)
	c.shoot("inbox-note-form")
	c.Click("button", "Add note")
	c.Find("article", "Note by You")
	c.is.Equal(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT u.name FROM unread_mentions m JOIN users u ON u.id = m.user_id`), []string{"Bea Stone"})
	eval[any](c.window, `void document.querySelector(".note header button").click()`)
	c.Click("menuitem", "Edit note")
	c.Fill("textbox", "Note", "Please approve, @Bea Stone or @Bea.")
	c.Click("button", "Save")
	c.shows("Please approve, @Bea Stone or @Bea.")
	c.is.Equal(len(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT user_id FROM unread_mentions`)), 2) // who is named later is told too

	// What is meant for the person does not end up in a note.
	c.Click("button", "Reply")
	c.Find("button", "Cancel reply")
	c.Find("button", "Send")
	c.Click("tab", "Note")
	c.Press(kb.Escape)
	c.Press("r")
	c.Find("textbox", "Message")
	c.Click("button", "Cancel reply")
	said := s.exchange("GET", s.app.URL()+"/v1/"+number+"/messages?conversation_id="+ana, "")
	c.is.Equal(strings.Count(string(said), `"object":"message"`), 1) // nothing was sent
	c.shoot("inbox-note")

	// It is there for the colleague until they open it.
	other.count("Mentions", "1")
	other.Click("tab", "Mentions")
	other.showsRows("Ana Ruiz")
	other.openConversation("Ana Ruiz")
	other.Find("article", "Note by Mira Kovač")
	other.count("Mentions", "0")

	// Snoozed, it leaves the open ones.
	c.Click("button", "More actions")
	c.Click("menuitem", "Snooze")
	c.Find("dialog", "Snooze")
	c.shoot("inbox-snooze")
	c.Click("button", "Until tomorrow")
	c.WaitFor(`document.querySelector("[data-change=snoozed]") !== null`)
	c.Click("tab", "Open")
	c.showsRows("Bo Chen")
	c.Click("tab", "Snoozed")
	c.showsRows("Ana Ruiz")
	s.says(number, "15550001111", "Ana Ruiz", textOf("Anybody?"))
	c.showsRows()
	c.Click("tab", "Open")
	c.showsRows("Ana Ruiz", "Bo Chen")

	// What is shown can be saved under a name, and has an address.
	c.Click("tab", "Waiting")
	c.Click("button", "Save view")
	c.Fill("textbox", "Name", "Hurry")
	c.Click("button", "Save")
	c.Find("tab", "Hurry")
	c.is.True(strings.Contains(c.at(), "view=viw_"))
	c.showsRows("Ana Ruiz", "Bo Chen")
	c.shoot("inbox-view")
	c.Click("button", "View options")
	c.Click("menuitem", "Delete view")
	c.confirm("Delete view")
	c.Gone("tab", "Hurry")

	// Views that do not fit are in a menu, and the one that is open is a tab.
	for _, name := range []string{"A", "B", "C", "Wide"} {
		s.call("POST", s.app.URL()+"/v1/views", `{"name":"`+name+`","shared":true,"filter":{"waiting":true}}`)
	}
	c.Find("tab", "C")
	c.Gone("tab", "Wide")
	eval[any](c.window, `void document.querySelector(".tabs > button").click()`)
	c.Click("menuitem", "Wide")
	c.Find("tab", "Wide")
	c.Gone("tab", "C")

	// Several are put off at once.
	c.Press(kb.Escape, "j", "x")
	c.Find("toolbar", "Selected")
	c.Click("button", "Snooze")
	c.Click("button", "For 3 hours")
	c.toast("1 conversation snoozed")
	c.fits()
	c.calm()
}

// Who holds a conversation is shown where a bot did. A person takes it over, and hands it to another.
func TestABotsConversationIsTakenOverAndHandedOn(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Are you a person?"))
	s.keyWith(storage.Key{Agent: new("Night desk")})
	ada, _ := s.invitePerson("ada@example.com", storage.RoleAgent)
	s.call("POST", s.app.URL()+"/v1/"+number+"/conversations/"+ana+"/hand_over", `{"to":{"type":"agent","id":"Night desk"}}`)
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.shows("Held by bot Night desk")
	c.Click("button", "Take over")
	c.shows("Held by you")
	c.Gone("button", "Take over")

	c.Click("button", "Hand over")
	c.Click("option", ada.Name)
	c.shows("Held by " + ada.Name)
	c.shows("Handed over to Mira Kovač") // from the bot
	c.shows("Assigned to " + ada.Name + " by Mira Kovač")
	c.shoot("inbox-held")
	c.fits()
	c.calm()
}
