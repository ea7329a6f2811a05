package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// keepsBodies keeps the bodies of all calls, as a sandbox does.
func keepsBodies(c *config.Config) { c.Log.Bodies = "all" }

// clipboard lets a test read what the page copies.
const clipboard = `void Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (t) => { window.copied = t } } })`

// TestTheLog is about calls, jobs and what people did, in one window of an admin.
func TestTheLog(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, keepsBodies)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "log", "Log")
	id := callsAreShownAsTheyAreMade(c, number)
	callsAreFiltered(c)
	theConsolesOwnCallsAreHidden(c, number)
	aCallShowsWhatWasSentAndAnswered(c, number, id)

	tabsHaveAddresses(c)
	message := s.heard(number, `"type":"text","text":{"body":"hi"}`)["id"].(string)
	jobsAreSaidInWords(c, message)
	aFailedJobIsRetriedAndCancelled(c, message)
	auditIsSaidInWords(c)
}

// callsAreShownAsTheyAreMade makes the first call, which sends a message.
func callsAreShownAsTheyAreMade(c *colleague, number string) (id string) {
	s := c.stage
	c.Find("heading", "No calls yet")
	c.shoot("log-none")
	id = s.send(number, "+15550001111", `"type":"text","text":{"body":"It's <b>here</b>"}`)
	c.row("POST", "/v1/"+number+"/messages", "200") // before what waits for the message has filled the page
	s.await(number, id, isStatus("read"))
	ask(c.t, "GET", s.app.URL()+"/v1/nothing", nil, "Authorization: Bearer "+s.tenant.Secret)
	c.row("GET", "/v1/nothing", "404")
	c.row("resource_not_found")
	c.is.Equal(c.All("tab"), []string{"Calls", "Jobs", "Audit"})
	c.shoot("log")
	c.fits()
	c.calm()
	return id
}

// callsAreFiltered by addresses: one call was not found, one was a POST.
func callsAreFiltered(c *colleague) {
	eval[any](c.window, `void (() => { const s = [...document.querySelectorAll(".log-filter")].find(l => l.textContent.startsWith("Status")).querySelector("select"); s.value = "4xx"; s.dispatchEvent(new Event("change")) })()`)
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(c.at(), "log?status=4xx")
	c.Fill("searchbox", "Path", "/none")
	c.Find("heading", "No matches")
	c.is.Equal(c.at(), "log?status=4xx&path=%2Fnone")
	c.open("log?method=POST", "Log")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(eval[string](c.window, `document.querySelector(".log-filter select").value`), "POST")
	c.goTo("log?created_before=2026-01-01T00:00:00Z", "Log")
	c.Find("heading", "No matches")
	c.calm()
}

// theConsolesOwnCallsAreHidden unless they are asked for.
func theConsolesOwnCallsAreHidden(c *colleague, number string) {
	eval[float64](c.window, `fetch("/console/api/v1/labels", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then(r => r.status)`)
	c.goTo("log?method=POST", "Log")
	c.row("POST", "/v1/"+number+"/messages")
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("tbody tr").length`), 1.0)
	c.Click("checkbox", "Console calls")
	c.row("POST", "/console/api/v1/labels")
	c.is.Equal(c.at(), "log?method=POST&console=true")
	c.Click("checkbox", "Console calls")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.calm("status of 400")
}

// aCallShowsWhatWasSentAndAnswered opens the one call that is in the list, which made a message.
func aCallShowsWhatWasSentAndAnswered(c *colleague, number, id string) {
	c.Click("link", "POST /v1/"+number+"/messages")
	c.heading("POST /v1/" + number + "/messages")
	c.Find("heading", "Request body")
	c.Find("heading", "Response body")
	c.Find("link", id)
	c.text(`"body": "It's <b>here</b>"`)
	c.text(`"id": "` + id + `"`)
	c.WaitFor(`document.querySelector(".log-facts time").textContent.includes(String(new Date().getFullYear()))`)
	eval[any](c.window, clipboard)
	c.Click("button", "Copy as curl")
	c.WaitFor(`window.copied !== undefined`)
	command := eval[string](c.window, `window.copied`)
	c.is.True(strings.HasPrefix(command, "curl -X POST '"+c.stage.app.URL()+"/v1/"+number+"/messages'"))
	c.is.True(strings.Contains(command, `-H "Authorization: Bearer $CONFAB_API_KEY"`))
	c.is.True(strings.Contains(command, `"It'\''s <b>here</b>"`))
	c.fits()
	c.shoot("log-call-bodies")
	c.goTo("log/"+c.stage.app.DB.NewID(storage.PrefixRequest), "Request")
	c.Find("heading", "Not found")
	c.calm("status of 404")
}

// tabsHaveAddresses shows the jobs while there are none.
func tabsHaveAddresses(c *colleague) {
	c.goTo("log", "Log")
	for _, tab := range []struct{ name, path string }{{"Jobs", "log/jobs"}, {"Audit", "log/audit"}, {"Calls", "log"}} {
		c.Click("tab", tab.name)
		c.is.Equal(c.at(), tab.path)
		c.is.Equal(c.Describe("tab", tab.name).Properties["selected"], "true")
	}
	c.goTo("log/jobs", "Log")
	c.Find("heading", "No jobs waiting")
	c.open("log?tab=audit&action=user.", "Log") // as it was
	c.WaitFor(`location.pathname + location.search === "/console/log/audit?action=user."`)
	c.row("Signed in", "Mira Kovač")
	c.calm()
}

// failedJob stores a job that failed, about a message.
func failedJob(s *stage, kind, message string) {
	s.t.Helper()
	storagetest.Exec(s.t, s.app.Config.DataDir, `INSERT INTO jobs (kind, lane, args, state, due_at, failures, last_error, created_at)
		VALUES (?, '', ?, 'failed', 1, 5, 'the disk is <b>full</b>', 1)`, kind, fmt.Sprintf(`{"account":1,"message":%q}`, message))
}

// jobsAreSaidInWords stores the first job, about a message of Ana Ruiz.
func jobsAreSaidInWords(c *colleague, message string) {
	failedJob(c.stage, "media.fetch", message)
	c.goTo("log/jobs", "Log")
	c.row("media.fetch", "the disk is <b>full</b>", "failed", "5")
	c.row("Download file from Ana Ruiz", "failed")
	c.Find("button", "Retry")
	c.Find("button", "Cancel")
	c.shoot("log-jobs")
	c.Click("button", "Cancel")
	c.Find("dialog", "Cancel “Download file from Ana Ruiz”?")
	c.shoot("log-cancel")
	c.Press(kb.Escape)
	c.Focus("tab", "Jobs")
	c.Press(kb.ArrowRight)
	c.row("Signed in", "Mira Kovač")
	c.is.Equal(c.at(), "log/audit")
	c.goTo("log/jobs", "Log")
	c.pick("Type", "Download file")
	c.is.Equal(c.at(), "log/jobs?kind=media.fetch")
	c.fits()
	c.shoot("log-jobs-words")
	c.Click("link", "Ana Ruiz")
	c.WaitFor(`location.pathname.includes("/trace/msg_")`)
	c.calm()
}

// aFailedJobIsRetriedAndCancelled stores a second job, which nobody here does.
func aFailedJobIsRetriedAndCancelled(c *colleague, message string) {
	failedJob(c.stage, "no.such.kind", message)
	c.goTo("log/jobs", "Log")
	c.row("no.such.kind", "failed")
	c.edit("media.fetch", "Cancel")
	c.Click("button", "Cancel job")
	c.toast("Job cancelled")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.Click("button", "Retry")
	c.toast("Job retried")
	c.row("no.such.kind", "waiting")
	c.is.Equal(storagetest.Select[string](c.t, c.stage.app.Config.DataDir, `SELECT kind || ' ' || failures FROM jobs WHERE kind IN ('no.such.kind', 'media.fetch')`), []string{"no.such.kind 0"})
	c.calm()
}

// auditIsSaidInWords makes a key to tell of.
func auditIsSaidInWords(c *colleague) {
	c.goTo("log/audit?action=key.", "Log")
	c.Find("heading", "No matches")
	c.goTo("settings/keys", "API keys")
	c.newKey("Shop", "In 30 days")
	c.Click("button", "Done")
	c.goTo("log/audit", "Log")
	c.row("API key created", "Mira Kovač", "Shop")
	c.pick("Type", "API key")
	c.pick("Actor", "Mira Kovač")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.Fill("combobox", "Target", "Key Shop") // as it is offered
	c.WaitFor(`location.search.includes("target_id=key_") && document.querySelectorAll("tbody tr").length === 1`)
	c.fits()
	c.shoot("log-audit-words")
	c.Click("link", "Shop")
	c.heading("API keys")
	c.calm()
}
