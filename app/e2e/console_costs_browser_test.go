package e2e

import (
	"strings"

	"confab/jobs/rates"
	"confab/storage"
	"confab/storage/storagetest"
)

// A lead sees what a broadcast may cost before it starts, and afterwards what everything cost.
func costsAreEstimatedAndCounted(c *colleague, number string) {
	s := c.stage
	s.atProvider(number, `{"name":"news","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Our lamps are here."}]}`)
	s.awaitApproval(number, "news")
	c.goTo("costs", "Costs")
	c.shows("No costs in this period.")
	c.shoot("costs-none")

	all, err := rates.Parse(strings.NewReader("from,country,category,price,currency\n2026-01-01,*,marketing,0.05,USD\n2026-01-01,*,service,0.004,USD\n"))
	c.is.NoErr(err)
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.ReplaceRates(all) })

	c.goTo("broadcasts/new", "New broadcast")
	c.Fill("textbox", "Name", "April")
	c.pick("Template", "news (en)")
	c.Click("button", "Next")
	c.Click("radio", "The lines of a CSV file")
	c.chooseFile("people.csv", "phone\n+15550003331\n+15550003332\n+15550003333\n")
	c.shows("3 people")
	c.Click("button", "Next")
	c.Click("button", "Next")
	c.shows("Estimated cost: $0.15")
	c.shoot("review-cost")
	c.fits()
	c.Click("button", "Start broadcast")
	c.heading("April")
	c.shows("3 billable messages, estimated at $0.15")

	c.goTo("costs", "Costs")
	c.shows("$0.15")
	c.shows("marketing")
	c.shows("April")
	c.Click("DisclosureTriangle", "View as table By campaign")
	c.row("April", "3")
	c.shoot("costs")
	c.fits()
	c.pick("Period", "Last month")
	c.shows("No costs in this period.")
	c.calm()
}
