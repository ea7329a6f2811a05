package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// TestHowWebhooksFare is about those of a server that tries again after an hour, in one window of an
// admin.
func TestHowWebhooksFare(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable, func(c *config.Config) { c.Webhooks.RetrySchedule = []time.Duration{time.Hour} })
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks", "Webhooks")
	oneFailureIsNoAlarm(c)
	aWebhookTellsItsDay(c)
	deliveriesAreFilteredByTheirAddress(c)
}

// oneFailureIsNoAlarm stores what one number and one webhook did in this hour.
func oneFailureIsNoAlarm(c *colleague) {
	t, s := c.t, c.stage
	s.connect()
	hook, _ := s.hook(newReceiver(t, nil).URL)
	dir := s.app.Config.DataDir
	hour := storage.Now() - storage.Now()%3_600_000
	storagetest.Exec(t, dir, `INSERT INTO message_hours VALUES (1, ?, 168, 160, 90, 1, 12)`, hour)
	storagetest.Exec(t, dir, `INSERT INTO delivery_hours VALUES (?, ?, 168, 1, 0)`, hook, hour)
	storagetest.Exec(t, dir, `UPDATE subscriptions SET consecutive_failures = 1`)

	c.goTo("settings/health", "Health")
	c.text("All numbers and webhooks are working.")
	c.text("1 of 169. Under 2% is normal, 5% or more needs attention.")
	c.text("168 of 169 succeeded. 95% or more is normal.")
	c.is.Equal(eval[[]string](c.window, `[...document.querySelectorAll(".verdicts .chip")].map(e => e.textContent)`), []string{"healthy", "healthy"})
	c.fits()
	c.shoot("health-verdicts")
	c.goTo("webhooks", "Webhooks")
	c.row("active", "99.4%")

	storagetest.Exec(t, dir, `UPDATE subscriptions SET consecutive_failures = 5500`)
	c.goTo("settings/health", "Health")
	c.text("5,500 failed attempts since the last success.")
	c.calm()
}

func aWebhookTellsItsDay(c *colleague) {
	s := c.stage
	r := newReceiver(c.t, nil)
	id, _ := s.hook(r.URL)
	c.goTo("webhooks/"+id, r.URL)
	for range 3 {
		s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{}`)
		r.next()
	}
	c.WaitFor(`[...document.querySelectorAll(".card")].map(e => e.textContent).join().startsWith("Success rate, 24 h100%,Deliveries, 24 h3,")`) // by itself
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll(".card svg").length`), 2.0)                                                   // none of what never was
	c.goTo("webhooks", "Webhooks")
	c.row(r.URL, "100%", " ms")
	c.is.Equal(eval[float64](c.window, fmt.Sprintf(`[...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes(%q)).querySelectorAll("svg").length`, r.URL)), 1.0)
	c.calm()
}

// deliveriesAreFilteredByTheirAddress makes thirty of one type, one that fails and one more.
func deliveriesAreFilteredByTheirAddress(c *colleague) {
	s := c.stage
	var fails atomic.Bool
	r := newReceiver(c.t, func(w http.ResponseWriter, _ *http.Request) {
		if fails.Load() {
			w.WriteHeader(503)
		}
	})
	id, _ := s.hook(r.URL)
	test := func(kind string) map[string]any {
		return s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{"event_type":"`+kind+`"}`)
	}
	for range 30 {
		test("message.sent")
		r.next()
	}
	c.goTo("webhooks/"+id, r.URL)
	c.WaitFor(`document.querySelectorAll("[aria-label=Deliveries] tbody .chip.good").length === 25`) // the last are answered
	fails.Store(true)
	failed := test("contact.updated")
	r.next()

	rows := `document.querySelectorAll("[aria-label=Deliveries] tbody tr").length`
	c.goTo("webhooks", "Webhooks")
	c.goTo("webhooks/"+id, r.URL)
	c.WaitFor(rows + ` === 25`)
	c.Click("button", "Show more")
	c.WaitFor(rows + ` === 31`)
	c.is.True(eval[bool](c.window, `document.querySelector("main .notice") === null`)) // one failure is no alarm

	// The rows in view stay where they are until new ones are asked for.
	eval[any](c.window, `void (document.querySelector("main").scrollTop = 300)`)
	newest := test("contact.created")["id"].(string)
	r.next()
	c.reconnects()
	c.Click("button", "1 new")
	c.row(newest, "contact.created")
	c.WaitFor(rows + ` === 32`)
	c.calm()
	filtersOfDeliveriesAreInTheAddress(c, "webhooks/"+id, failed)

	// Events are beside them.
	c.goTo("webhooks/"+id, r.URL)
	c.Find("complementary", "Events")
	c.WaitFor(`document.querySelectorAll("aside.events li").length === 15`)
	c.fits()
	c.shoot("webhook-many")
	c.goTo("webhooks", "Webhooks")
	c.row(r.URL, "failing", "93.8%")
	c.shoot("webhooks")
	c.calm()
}

// filtersOfDeliveriesAreInTheAddress ends at the delivery that failed.
func filtersOfDeliveriesAreInTheAddress(c *colleague, page string, failed map[string]any) {
	rows := `document.querySelectorAll("[aria-label=Deliveries] tbody tr").length`
	c.choose("Status", "failed")
	c.WaitFor(rows + ` === 2`)
	c.row(failed["id"].(string), "contact.updated", "retrying", "503")
	c.is.Equal(c.at(), page+"?status=failed")
	c.choose("Status", "")
	c.choose("Type", "message.sent")
	c.choose("Time", "1")
	c.WaitFor(rows + ` === 25`)
	c.Do(chromedp.Reload()) // a link sent to a colleague shows the same
	c.WaitFor(rows + ` === 25`)
	c.is.Equal(c.Describe("combobox", "Type").Value, "message.sent")
	c.is.Equal(c.Describe("combobox", "Time").Value, "Last hour")
	c.openAddress(page + "?status=dead")
	c.Find("heading", "No matches")
	c.openAddress(page)
	c.WaitFor(rows + ` === 25`)
	c.Fill("searchbox", "Search deliveries", failed["event_id"].(string))
	c.Press(kb.Enter)
	c.WaitFor(rows + ` === 1`)
	c.Fill("searchbox", "Search deliveries", failed["id"].(string))
	c.Press(kb.Enter)
	c.heading("contact.updated")
	c.calm()
}
