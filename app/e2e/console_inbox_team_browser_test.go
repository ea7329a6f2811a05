package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// A colleague is asked by a note, and finds it until it is read.
func (p *pair) leaveNotes() {
	s, number, mira, tomas := p.stage, p.number, p.mira, p.tomas
	s.resolveAll(number)
	tomas.openAddress("inbox")
	mira.openAddress("inbox")
	mira.count("Waiting", "0")
	gil := s.says(number, "15550006666", "Gil Ortega", textOf("Where is my refund?"))
	s.says(number, "15550007777", "Bo Chen", textOf("Hello"))
	storagetest.Update(p.t, s.app.DB, func(tx *storage.Tx) error { // with a name that begins his
		return tx.InsertUser(&storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "Tomas"})
	})
	mira.count("Waiting", "2")
	mira.Click("tab", "Waiting")
	mira.showsRows("Gil Ortega", "Bo Chen") // who waits longest is first
	mira.is.Equal(mira.Describe("combobox", "Sort").Value, "Waiting longest")
	mira.openConversation("Gil Ortega")

	// A note is written in a field of its own, which cannot send, and @ names a colleague.
	mira.Find("button", "Send")
	mira.Click("tab", "Note")
	mira.Gone("button", "Send")
	mira.Focus("textbox", "Note")
	mira.Press("Please approve, @tomas l")
	mira.Find("option", "Tomas Lind")
	mira.Press(kb.Enter)
	mira.shoot("inbox-note-form")
	mira.Click("button", "Add note")
	mira.Find("article", "Your note")
	mira.is.Equal(storagetest.Select[string](p.t, s.app.Config.DataDir, `SELECT u.name FROM unread_mentions m JOIN users u ON u.id = m.user_id`), []string{"Tomas Lind"})
	eval[any](mira.window, `void document.querySelector(".note header button").click()`)
	mira.Click("menuitem", "Edit note")
	mira.Fill("textbox", "Note", "Please approve, @Tomas Lind or @Tomas.")
	mira.Click("button", "Save")
	mira.shows("Please approve, @Tomas Lind or @Tomas.")
	mira.is.Equal(len(storagetest.Select[string](p.t, s.app.Config.DataDir, `SELECT user_id FROM unread_mentions`)), 2) // who is named later is told too

	// What is meant for the person does not end up in a note.
	mira.Click("button", "Reply")
	mira.Find("button", "Cancel reply")
	mira.Find("button", "Send")
	mira.Click("tab", "Note")
	mira.Press(kb.Escape)
	mira.Press("r")
	mira.Find("textbox", "Message")
	mira.Click("button", "Cancel reply")
	said := s.exchange("GET", s.app.URL()+"/v1/"+number+"/messages?conversation_id="+gil, "")
	mira.is.Equal(strings.Count(string(said), `"object":"message"`), 1) // nothing was sent
	mira.shoot("inbox-note")

	// It is there for the colleague until they open it.
	tomas.count("Mentions", "1")
	tomas.Click("tab", "Mentions")
	tomas.showsRows("Gil Ortega")
	tomas.openConversation("Gil Ortega")
	tomas.Find("article", "Note by Mira Kovač")
	tomas.count("Mentions", "0")

	// One that is begun in another tab is that of this tab too.
	mira.Click("tab", "Note")
	mira.Focus("textbox", "Note")
	mira.Press("It")
	eval[any](mira.window, `void ((key) => {
		document.hasFocus = () => false;
		localStorage.setItem(key, JSON.stringify({ text: "It waits." }));
		dispatchEvent(new StorageEvent("storage", { key }));
		delete document.hasFocus;
	})(Object.keys(localStorage).find((key) => key.endsWith("`+gil+`.note")))`)
	mira.written("It waits.")

	// The next one is there at once, while it is open.
	mira.Fill("textbox", "Note", "It is approved.")
	mira.Click("button", "Add note")
	tomas.shows("It is approved.")
}

// A conversation that is snoozed leaves the open ones, until somebody writes.
func (p *pair) putOffWhatCanWait() {
	s, number, mira := p.stage, p.number, p.mira
	mira.Click("button", "More actions")
	mira.Click("menuitem", "Snooze")
	mira.Find("dialog", "Snooze")
	mira.shoot("inbox-snooze")
	mira.Click("button", "Until tomorrow")
	mira.WaitFor(`document.querySelector("[data-change=snoozed]") !== null`)
	mira.Click("tab", "Open")
	mira.showsRows("Bo Chen")
	mira.Click("tab", "Snoozed")
	mira.showsRows("Gil Ortega")
	s.says(number, "15550006666", "Gil Ortega", textOf("Anybody?"))
	mira.showsRows()
	mira.Click("tab", "Open")
	mira.showsRows("Gil Ortega", "Bo Chen")
}

// What is shown can be saved under a name, and has an address.
func (c *colleague) saveAView() {
	c.Click("tab", "Waiting")
	c.Click("button", "Save view")
	c.Fill("textbox", "Name", "Hurry")
	c.Click("button", "Save")
	c.Find("tab", "Hurry")
	c.is.True(strings.Contains(c.at(), "view=viw_"))
	c.showsRows("Gil Ortega", "Bo Chen")
	c.shoot("inbox-view")
	c.Click("button", "View options")
	c.Click("menuitem", "Delete view")
	c.confirm("Delete view")
	c.Gone("tab", "Hurry")

	// Views that do not fit are in a menu, and the one that is open is a tab.
	urgent := c.stage.call("POST", c.stage.app.URL()+"/v1/labels", `{"name":"urgent"}`)["id"].(string)
	for name, filter := range map[string]string{"A": `"waiting":true`, "B": `"waiting":true`, "C": `"label_id":"` + urgent + `"`, "Wide": `"waiting":true`} {
		c.stage.call("POST", c.stage.app.URL()+"/v1/views", `{"name":"`+name+`","shared":true,"filter":{`+filter+`}}`)
	}
	c.Click("tab", "C")
	c.WaitFor(`document.querySelector(".list-tools select").selectedOptions[0].text === "urgent"`)
	c.Gone("tab", "Wide")
	eval[any](c.window, `void document.querySelector(".tabs > button").click()`)
	c.Click("menuitem", "Wide")
	c.Find("tab", "Wide")
	c.Gone("tab", "C")
	c.showsRows("Gil Ortega", "Bo Chen")

	// Several are put off at once.
	c.Press(kb.Escape, "j", "x")
	c.Find("toolbar", "Selected")
	c.Click("button", "Snooze")
	c.Click("button", "For 3 hours")
	c.toast("1 conversation snoozed")
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
