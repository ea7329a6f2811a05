package e2e

import (
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestReportsAndCosts looks at both, in one window of an admin.
func TestReportsAndCosts(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "reports", "Reports")
	reportsShowHowConversationsWent(c)
	costsAreEstimatedAndCounted(c, number)
}

// A lead sees how the last days went against those before, as plots with tables behind them.
func reportsShowHowConversationsWent(c *colleague) {
	t, s := c.t, c.stage
	c.shows("No conversations in this period.")
	c.shoot("reports-none")

	account := storagetest.Select[int64](t, s.app.Config.DataDir, `SELECT id FROM accounts`)[0]
	user := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT id FROM users LIMIT 1`)[0]
	spell := func(daysAgo int, reply time.Duration) {
		at := storage.Now().Add(-time.Duration(daysAgo) * 24 * time.Hour)
		storagetest.Exec(t, s.app.Config.DataDir, `
			INSERT INTO spells (account_id, opened_at, number, inbound_at, replied_at, resolved_at, assignee_id, labels, messages_in, messages_out)
			VALUES (?, ?, abs(random()), ?, ?, ?, ?, '', 2, 3)`, account, at, at, at.Add(reply), at.Add(time.Hour), user)
	}
	for day := range 20 {
		for range 1 + day%4 {
			spell(day, time.Duration(30+day)*time.Second)
		}
	}
	for day := 31; day < 50; day++ {
		spell(day, time.Minute)
	}

	c.goTo("costs", "Costs")
	c.goTo("reports", "Reports")
	c.shows("50") // conversations
	c.shows("+163% vs. the previous period")
	c.shows("40 sec")
	c.Click("DisclosureTriangle", "View as table By person")
	c.row("50", "50", "40 sec")
	c.Click("DisclosureTriangle", "View as table Conversations")
	c.shoot("reports")
	c.fits()
	c.pick("Period", "Last 7 days")
	opened := func(many string) {
		c.WaitFor(`document.querySelector("main .card .figure")?.textContent === "` + many + `"`)
	}
	opened("16")

	// One that is chosen while the first report is being read is the one that is shown.
	c.goTo("costs", "Costs")
	eval[any](c.window, `void ((real) => {
		const released = new Promise((done) => (window.release = done));
		window.fetch = async (url, options) => {
			if (/reports\/conversations\?/.test(url)) await released;
			return real(url, options);
		};
	})(fetch)`)
	c.goTo("reports", "Reports")
	c.pick("Period", "Last 7 days")
	eval[any](c.window, `void release()`)
	opened("16")
	c.calm()
}
