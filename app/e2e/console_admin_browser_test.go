package e2e

import (
	"fmt"
	"net/url"

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

// night is the name of the second team.
const night = "Night " + markup

func aTeamIsMade(c *colleague) {
	c.goTo("settings/people", "People")
	c.text("Default")
	c.Click("button", "New team")
	c.Find("dialog", "New team")
	c.confirm("Save")
	c.is.Equal(c.Describe("textbox", "Name").Properties["invalid"], "true")
	c.Fill("textbox", "Name", night)
	c.confirm("Save")
	c.toast("Saved")
	c.text(night)
	c.unharmed()
	c.shoot("people-teams")
	c.fits()
	c.calm()
}

// With a second team, forms for what belongs to a team ask for it.
func peopleBelongToTeams(c *colleague) {
	s := c.stage
	team := func(email string) string {
		return storagetest.Select[string](c.t, s.app.Config.DataDir, `SELECT t.name FROM users u JOIN teams t ON t.id = u.team_id WHERE u.email = ?`, email)[0]
	}
	choose := func(name string) {
		c.Find("combobox", "Team")
		eval[any](c.window, `void (e => { e.value = [...e.options].find(o => o.text === `+quoted(name)+`).value; e.dispatchEvent(new Event("input", { bubbles: true })) })(document.querySelector("[name=team_id]"))`)
	}
	c.goTo("settings/people", "People")
	c.Click("button", "Invite")
	c.Fill("textbox", "Name", "Nils")
	c.Fill("textbox", "Email", "nils@example.com")
	choose(night)
	c.shoot("invite-team")
	c.Click("button", "Create invitation")
	c.Click("button", "Done")
	c.is.Equal(team("nils@example.com"), night)
	c.Click("link", "Nils")
	c.heading("Nils")
	c.is.Equal(c.Describe("combobox", "Team").Value, night)
	choose("Default")
	c.Click("button", "Save")
	c.toast("Saved")
	c.is.Equal(team("nils@example.com"), "Default")
	c.shoot("person-team")

	// What somebody else has changed meanwhile stays, and is shown.
	storagetest.Exec(c.t, s.app.Config.DataDir, `UPDATE users SET role = 'admin' WHERE email = 'nils@example.com'`)
	c.Fill("textbox", "Name", "Nils Holm")
	c.Click("button", "Save")
	c.heading("Nils Holm")
	c.WaitFor(`document.querySelector("[name=role]:checked").value === "admin"`)
	c.calm()
}

func numbersBelongToTeams(c *colleague) {
	s := c.stage
	n, err := s.sim.AddNumber(simulator.Number{Status: "CONNECTED", VerifiedName: "Second shop"})
	c.is.NoErr(err)
	c.goTo("numbers", "Numbers")
	c.Click("button", "New number")
	c.Find("dialog", "New number")
	c.Fill("textbox", "Phone number id", n.PhoneNumberID)
	c.Fill("textbox", "Business account id", n.WABAID)
	c.Fill("textbox", "Access token", s.sim.Credentials().AccessToken)
	c.pick("Team", night)
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
	c.goTo("log/audit?action=team.", "Log")
	c.row("Team created", "Mira Kovač")
	c.calm()
}

// What people give names to is text wherever it is listed.
func whatPeopleKeepIsText(c *colleague) {
	s := c.stage
	for i, text := range hostileTexts {
		label := string([]rune(text)[:min(50, len([]rune(text)))])
		s.call("POST", s.app.URL()+"/v1/labels", `{"name":`+quoted(label)+`}`)
		s.call("POST", s.app.URL()+"/v1/quick_replies", fmt.Sprintf(`{"shortcut":"reply%d","text":%s}`, i, quoted(text)))
		s.call("POST", s.app.URL()+"/v1/customers", `{"name":`+quoted(text)+`}`)
		ask(c.t, "GET", s.app.URL()+"/v1/"+url.PathEscape(text), nil, "Authorization: Bearer "+s.tenant.Secret)
	}
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error {
		for _, text := range hostileTexts {
			if err := tx.InsertTeam(&storage.Team{OrganizationID: s.tenant.Organization.ID, Name: text}); err != nil {
				return err
			}
		}
		return nil
	})

	for path, heading := range map[string]string{"settings/labels": "Labels", "settings/quick-replies": "Quick replies", "customers": "Customers", "settings/people": "People", "log": "Log"} {
		c.goTo(path, heading)
		for _, text := range hostileTexts {
			if path != "log" { // where addresses are escaped
				c.text(string([]rune(text)[:min(50, len([]rune(text)))]))
			}
		}
		c.unharmed()
		c.fits()
	}
	c.calm()
}
