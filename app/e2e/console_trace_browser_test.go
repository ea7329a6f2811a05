package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// retrying lets a failed send be tried again soon, and a failed delivery once.
func retrying(c *config.Config) {
	c.Provider.RetrySchedule = []time.Duration{50 * time.Millisecond, 50 * time.Millisecond}
	c.Webhooks.RetrySchedule = []time.Duration{20 * time.Millisecond}
}

// steps are the titles of a trace on screen, oldest first.
func (c *colleague) steps() []string {
	c.t.Helper()
	return eval[[]string](c.window, `[...document.querySelectorAll(".trace .trace-title")].map(e => e.textContent)`)
}

func TestAMessageIsTracedInABrowser(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable, retrying)
	number := s.connect()
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	hook := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Event") == "message.sent" {
			http.Error(w, "<b>not now</b>", 500)
		}
	})
	s.subscribe(hook.URL, `"message.sent","message.status"`)
	s.fault(`{"kind":"http_500","times":1}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"Which one <i>would</i> you like?"}`)
	s.await(number, id, isStatus("read"))
	var dead string
	until(func() bool {
		for _, d := range s.deliveries("status=dead") {
			dead = d["id"].(string)
		}
		return dead != ""
	})

	c := s.consoleAt(t, storage.RoleAdmin, "trace/"+id, "“Which one <i>would</i> you like?”")
	c.Find("list", "What happened, oldest first")
	host := strings.TrimPrefix(hook.URL, "http://")
	c.WaitFor(`document.querySelectorAll(".trace-step").length >= 14`)
	steps := c.steps()
	c.is.Equal(steps[:5], []string{
		"POST /v1/" + number + "/messages", "Stored, queued", "Sent to the provider, attempt 1", "Sent to the provider, attempt 2", "Event message.sent",
	})
	c.is.True(slices.Contains(steps, host)) // when, is up to the endpoint
	for _, title := range []string{"Callback: sent", "Callback: delivered", "Callback: read"} {
		c.Find("StaticText", title)
	}
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main i, main b").length`), 0.0) // what strangers write is text
	c.shoot("trace")
	c.fits()

	// What was sent and received is one click away.
	c.is.Equal(eval[string](c.window, `[...document.querySelectorAll(".trace-step.bad .trace-detail")][0].textContent.replace(/in .*? ms/, "in X")`),
		"HTTP 500 in X: An unexpected error has occurred. Please retry your request later. (code 2)")
	eval[any](c.window, `void document.querySelectorAll(".trace-step.bad summary")[0].click()`)
	c.WaitFor(`document.querySelector(".trace-raw pre")?.textContent.includes('"code": 2')`)
	c.shoot("trace-raw")
	c.Click("button", "Copy as curl")
	c.Find("dialog", "This message as an API call")
	c.is.True(strings.Contains(c.shown()[0], `"text":{"body":"Which one <i>would</i> you like?"}`))
	c.Click("button", "Close")

	// A delivery that died is replayed from here.
	c.Click("button", "Replay")
	c.toast("Replayed")
	c.WaitFor(`[...document.querySelectorAll(".trace-detail")].some(e => e.textContent.includes("replayed"))`)
	c.Click("link", dead)
	c.WaitFor(`document.querySelector(".trace") === null`)
	c.is.Equal(c.at(), "deliveries/"+dead)
	c.Do(chromedp.NavigateBack())
	c.WaitFor(`document.querySelector(".trace a") !== null`)

	// It leads to the call that made it, to the conversation and to the contact; and back.
	request := eval[string](c.window, `[...document.querySelectorAll(".trace a")].find(a => a.textContent.startsWith("req_")).textContent`)
	c.Click("link", request)
	c.heading("POST /v1/" + number + "/messages")
	c.shoot("log-call")
	c.fits()
	c.Click("link", "Follow the message")
	c.heading("“Which one <i>would</i> you like?”")
	c.Click("link", "Ana Ruiz")
	c.is.True(strings.HasPrefix(c.at(), "contacts/ctc_"))

	// An event leads to its message; one that is about none says that there is nothing.
	var events struct{ Data []map[string]any }
	s.list("/v1/events?type=message.status&limit=1", &events)
	c.open("trace/"+events.Data[0]["id"].(string), "“Which one <i>would</i> you like?”")
	c.open("trace/"+s.app.DB.NewID(storage.PrefixMessage), "Trace")
	c.Find("heading", "Not found")
	c.calm("status of 404")
}

func TestATraceGrowsWhileItHappens(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.console(t, storage.RoleAdmin)
	s.call("PATCH", s.simURL+"/_sim/settings", `{"delivered_ms":null,"read_ms":null,"auto_read":false}`)
	id := s.send(number, "+15550001111", `"type":"image","image":{"link":"https://shop.test/a.png"}`)
	m := s.await(number, id, isStatus("sent"))
	c.open("trace/"+id, "Image")
	c.Find("StaticText", "Sent to the provider, attempt 1")
	eval[any](c.window, `void (window.first = document.querySelector(".trace-step"))`)

	s.call("POST", s.simURL+"/_sim/messages/"+m["message_id"].(string)+"/status", `{"status":"delivered"}`)
	s.await(number, id, isStatus("delivered"))
	c.Find("StaticText", "Callback: delivered")
	c.WaitFor(`document.querySelector(".heading .chip").textContent === "delivered"`)
	c.is.True(eval[bool](c.window, `window.first === document.querySelector(".trace-step")`)) // existing steps stay
	c.calm()
}

func TestTheLogOfCallsIsLiveAndFiltered(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "log", "Log")
	c.Find("heading", "No calls yet")
	c.shoot("log-none")
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hello"}`)
	c.row("POST", "/v1/"+number+"/messages", "200") // before what waits for the message has filled the page
	s.await(number, id, isStatus("read"))
	ask(t, "GET", s.app.URL()+"/v1/nothing", nil, "Authorization: Bearer "+s.tenant.Secret)
	c.row("GET", "/v1/nothing", "404")
	c.row("resource_not_found")
	c.is.Equal(c.All("tab"), []string{"Calls", "Jobs", "Audit"})
	c.shoot("log")
	c.fits()

	// Filters are addresses.
	eval[any](c.window, `void (() => { const s = [...document.querySelectorAll(".log-filter")].find(l => l.textContent.startsWith("Status")).querySelector("select"); s.value = "4xx"; s.dispatchEvent(new Event("change")) })()`)
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(c.at(), "log?status=4xx")
	c.Fill("searchbox", "Path", "/none")
	c.Find("heading", "No matches")
	c.is.Equal(c.at(), "log?status=4xx&path=%2Fnone")
	c.open("log?method=POST", "Log")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(eval[string](c.window, `document.querySelector(".log-filter select").value`), "POST")
	c.open("log?created_before=2026-01-01T00:00:00Z", "Log")
	c.Find("heading", "No matches")

	c.open("log?method=POST", "Log")
	c.row("POST", "/messages")
	eval[any](c.window, `void document.querySelector("tbody a").click()`)
	c.heading("POST /v1/" + number + "/messages")
	c.Find("link", id)
	c.open("log/"+s.app.DB.NewID(storage.PrefixRequest), "Request")
	c.Find("heading", "Not found")
	c.calm("status of 404")
}

func TestNewCallsDoNotMoveWhatIsRead(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.connect()
	calls := make([]storage.APICall, 120)
	organization := s.tenant.Organization.ID
	for i := range calls {
		calls[i] = storage.APICall{
			OrganizationID: &organization, KeyID: &s.tenant.Key.ID, Method: "GET", Path: fmt.Sprintf("/v1/old/%d", i), Status: 200,
			RequestID: s.app.DB.NewID(storage.PrefixRequest), CreatedAt: storage.Now() - storage.Time(1000*(len(calls)-i)),
		}
	}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertAPICalls(calls) })

	c := s.consoleAt(t, storage.RoleAdmin, "log", "Log")
	c.row("/v1/old/119")
	c.Click("button", "Show more")
	c.row("/v1/old/30")
	eval[any](c.window, `void (document.getElementById("main").scrollTop = 2000)`)
	s.keyStatus(s.tenant.Secret)
	c.Find("button", "1 new")
	c.is.True(eval[bool](c.window, `!document.querySelector("tbody").textContent.includes("/v1/me")`))
	c.shoot("log-new")
	c.Click("button", "1 new")
	c.row("/v1/me")
	c.is.Equal(eval[float64](c.window, `document.getElementById("main").scrollTop`), 0.0)
	c.calm()
}

func TestJobsAndAuditAreInTheLog(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	message := s.heard(number, `"type":"text","text":{"body":"hi"}`)["id"].(string)
	storagetest.Exec(t, s.app.Config.DataDir, `INSERT INTO jobs (kind, lane, args, state, due_at, failures, last_error, created_at)
		VALUES ('media.fetch', '', ?, 'failed', 1, 5, 'the disk is <b>full</b>', 1)`, `{"message":"`+message+`"}`)
	c := s.console(t, storage.RoleAdmin)
	c.open("log/jobs", "Log")
	c.row("media.fetch", "the disk is <b>full</b>", "failed", "5")
	c.Find("button", "Retry")
	c.Find("button", "Cancel")
	c.shoot("log-jobs")
	c.fits()
	c.Click("button", "Cancel")
	c.Find("dialog", "Cancel “Download file”?")
	c.shoot("log-cancel")
	c.Press(kb.Escape)

	c.Focus("tab", "Jobs")
	c.Press(kb.ArrowRight)
	c.row("Signed in", "Mira Kovač")
	c.is.Equal(c.at(), "log/audit")
	c.shoot("log-audit")
	c.fits()
	c.open("log/audit?action=key.", "Log")
	c.Find("heading", "No matches")
	c.calm()
}

// What an admin does about a job that failed.
func TestAFailedJobIsRetriedAndCancelled(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	message := s.heard(number, `"type":"text","text":{"body":"hi"}`)["id"].(string)
	for _, kind := range []string{"no.such.kind", "other.kind"} {
		storagetest.Exec(t, s.app.Config.DataDir, `INSERT INTO jobs (kind, lane, args, state, due_at, failures, last_error, created_at)
			VALUES (?, '', ?, 'failed', 1, 5, 'it broke', 1)`, kind, `{"message":"`+message+`"}`)
	}
	c := s.console(t, storage.RoleAdmin)
	c.open("log/jobs", "Log")
	c.row("no.such.kind", "failed")
	c.edit("other.kind", "Cancel")
	c.Click("button", "Cancel job")
	c.toast("Job cancelled")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.Click("button", "Retry")
	c.toast("Job retried")
	c.row("no.such.kind", "waiting") // nobody does such jobs here
	c.is.Equal(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT kind || ' ' || failures FROM jobs WHERE kind IN ('no.such.kind', 'other.kind')`), []string{"no.such.kind 0"})
	c.calm()
}
