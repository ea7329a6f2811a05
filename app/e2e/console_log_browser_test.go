package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// keepsBodies keeps the bodies of all calls, as a sandbox does.
func keepsBodies(c *config.Config) { c.Log.Bodies = "all" }

// clipboard lets a test read what the page copies.
const clipboard = `void Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (t) => { window.copied = t } } })`

func TestACallShowsWhatWasSentAndAnswered(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, keepsBodies)
	number := s.connect()
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"It's <b>here</b>"}`)
	s.await(number, id, isStatus("read"))
	c := s.console(t, storage.RoleAdmin)

	// The console's own calls are hidden unless asked for.
	eval[float64](c.window, `fetch("/console/api/v1/labels", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then(r => r.status)`)
	c.open("log?method=POST", "Log")
	c.row("POST", "/v1/"+number+"/messages")
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("tbody tr").length`), 1.0)
	c.Click("checkbox", "Console calls")
	c.row("POST", "/console/api/v1/labels")
	c.is.Equal(c.at(), "log?method=POST&console=true")
	c.Click("checkbox", "Console calls")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)

	c.Click("link", "POST /v1/"+number+"/messages")
	c.heading("POST /v1/" + number + "/messages")
	c.Find("heading", "Request body")
	c.Find("heading", "Response body")
	c.text(`"body": "It's <b>here</b>"`)
	c.text(`"id": "` + id + `"`)
	c.WaitFor(`document.querySelector(".log-facts time").textContent.includes(String(new Date().getFullYear()))`)
	eval[any](c.window, clipboard)
	c.Click("button", "Copy as curl")
	c.WaitFor(`window.copied !== undefined`)
	command := eval[string](c.window, `window.copied`)
	c.is.True(strings.HasPrefix(command, "curl -X POST '"+s.app.URL()+"/v1/"+number+"/messages'"))
	c.is.True(strings.Contains(command, `-H "Authorization: Bearer $CONFAB_API_KEY"`))
	c.is.True(strings.Contains(command, `"It'\''s <b>here</b>"`))
	c.fits()
	c.shoot("log-call-bodies")
	c.calm("status of 400")
}

func TestTabsOfTheLogHaveAddresses(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	s.connect()
	c := s.console(t, storage.RoleAdmin)
	c.open("log", "Log")
	for _, tab := range []struct{ name, path string }{{"Jobs", "log/jobs"}, {"Audit", "log/audit"}, {"Calls", "log"}} {
		c.Click("tab", tab.name)
		c.is.Equal(c.at(), tab.path)
		c.is.Equal(c.Find("tab", tab.name).Properties["selected"], "true")
	}
	c.open("log/jobs", "Log")
	c.Find("heading", "No jobs waiting")
	c.open("log?tab=audit&action=user.", "Log") // as it was
	c.WaitFor(`location.pathname + location.search === "/console/log/audit?action=user."`)
	c.row("Signed in", "Mira Kovač")
	c.calm()
}

func TestJobsAndAuditAreSaidInWords(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	heard := s.heard(number, `"type":"text","text":{"body":"hi"}`)
	storagetest.Exec(t, s.app.Config.DataDir, `INSERT INTO jobs (kind, lane, args, state, due_at, failures, last_error, created_at)
		VALUES ('media.fetch', '', ?, 'failed', 1, 5, 'it broke', 1)`,
		fmt.Sprintf(`{"account":1,"message":%q}`, heard["id"]))
	c := s.console(t, storage.RoleAdmin)
	c.open("settings/keys", "API keys")
	c.newKey("Shop", "In 30 days")
	c.open("log/jobs", "Log")
	c.row("Download file from Ana Ruiz", "failed")
	c.pick("Type", "Download file")
	c.is.Equal(c.at(), "log/jobs?kind=media.fetch")
	c.fits()
	c.shoot("log-jobs-words")
	c.Click("link", "Ana Ruiz")
	c.WaitFor(`location.pathname.includes("/trace/msg_")`)

	c.open("log/audit", "Log")
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

func TestATraceNamesItsEndpoints(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	number := s.connect()
	hook := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	named, _ := s.subscribe(hook.URL+"/orders", `"message.sent"`)
	s.call("PATCH", s.app.URL()+"/v1/webhook_subscriptions/"+named, `{"description":"Order service"}`)
	s.subscribe(hook.URL+"/crm", `"message.sent"`)
	paused, _ := s.subscribe(hook.URL+"/later", `"message.sent"`)
	s.call("PATCH", s.app.URL()+"/v1/webhook_subscriptions/"+paused, `{"status":"paused"}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
	s.await(number, id, isStatus("read"))

	c := s.console(t, storage.RoleAdmin)
	c.open("trace/"+id, "“hi”")
	c.Find("StaticText", "Order service")
	host := strings.TrimPrefix(hook.URL, "http://")
	c.Find("StaticText", host+"/crm")
	c.Find("StaticText", host+"/later")
	c.fits()
	c.shoot("trace-endpoints")
	c.Click("link", "the webhook is paused")
	c.heading(hook.URL + "/later")

	// A delivery without attempts says why there are none.
	waiting := s.deliveries("status=pending")[0]["id"].(string)
	c.open("deliveries/"+waiting, "message.sent")
	c.text("No attempts yet: the webhook is paused.")
	c.shoot("delivery-untried")
	c.calm()
}

func TestATraceOfABroadcastHasAllItsSteps(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	number := s.connect()
	hook := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.subscribe(hook.URL, `"message.sent"`)
	s.atProvider(number, `{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	label := s.label("Regulars")
	person := s.contact(number, "+15550001111", "Ana Ruiz")
	s.call("POST", s.app.URL()+"/v1/"+number+"/contacts/"+person+"/labels", `{"label_id":"`+label+`"}`)
	made := s.call("POST", s.app.URL()+"/v1/"+number+"/broadcasts",
		`{"name":"News","template":{"name":"news","language":"en"},"audience":{"label_id":"`+label+`"}}`)
	var sent struct {
		Data []struct {
			MessageID string `json:"message_id"`
		}
	}
	until(func() bool {
		s.read("/"+number+"/broadcasts/"+made["id"].(string)+"/recipients?status=read", &sent)
		return len(sent.Data) == 1
	})

	c := s.console(t, storage.RoleAdmin)
	c.open("trace/"+sent.Data[0].MessageID, "“Something is new here.”")
	for _, step := range []string{"Stored, queued by a broadcast", "Sent to the provider, attempt 1", "Event message.sent", "Callback: sent", "Callback: delivered", "Callback: read"} {
		c.Find("StaticText", step)
	}
	c.Find("StaticText", strings.TrimPrefix(hook.URL, "http://"))
	var events struct{ Data []map[string]any }
	s.list("/v1/events?type=message.sent&limit=1", &events)
	c.open("trace/"+events.Data[0]["id"].(string), "“Something is new here.”")
	c.calm()
}

func TestOneFailureIsNoAlarm(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	s.connect()
	hook, _ := s.hook(newReceiver(t, nil).URL)
	dir := s.app.Config.DataDir
	hour := storage.Now() - storage.Now()%3_600_000
	storagetest.Exec(t, dir, `INSERT INTO message_hours VALUES (1, ?, 168, 160, 90, 1, 12)`, hour)
	storagetest.Exec(t, dir, `INSERT INTO delivery_hours VALUES (?, ?, 168, 1, 0)`, hook, hour)
	storagetest.Exec(t, dir, `UPDATE subscriptions SET consecutive_failures = 1`)

	c := s.console(t, storage.RoleAdmin)
	c.open("settings/health", "Health")
	c.text("All numbers and webhooks are working.")
	c.text("1 of 169. Under 2% is normal, 5% or more needs attention.")
	c.text("168 of 169 succeeded. 95% or more is normal.")
	c.is.Equal(eval[[]string](c.window, `[...document.querySelectorAll(".verdicts .chip")].map(e => e.textContent)`), []string{"healthy", "healthy"})
	c.fits()
	c.shoot("health-verdicts")
	c.open("webhooks", "Webhooks")
	c.row("active", "99.4%")

	storagetest.Exec(t, dir, `UPDATE subscriptions SET consecutive_failures = 5500`)
	c.open("settings/health", "Health")
	c.text("5,500 failed attempts since the last success.")
	c.calm()
}

func TestAnAccountIDOpensItsNumber(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	account := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT public_id FROM accounts`)[0]
	c := s.console(t, storage.RoleAdmin)
	c.jump(account, s.phoneOf(number))
	c.WaitFor(`location.pathname === "/console/numbers/` + number + `"`)

	// One that lost its registration can be registered again.
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE accounts SET status = 'degraded', status_reason = 'The provider reports the number as DISCONNECTED.'`)
	c.open("numbers/"+number, s.phoneOf(number))
	c.Find("button", "Register")
	c.text("If its registration was lost, register it again.")
	c.shoot("number-degraded")
	c.calm()
}

// The text of a form's button can be read under the pointer too.
func TestAButtonUnderThePointerKeepsItsText(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.atProvider(number, `{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	c := s.console(t, storage.RoleAdmin)
	for path, at := range map[string][2]string{
		"broadcasts/new": {"New broadcast", "Next"}, "templates/new": {"New template", "Save"}, "settings/profile": {"Profile", "Save"},
	} {
		c.open(path, at[0])
		c.Find("button", at[1])
		for _, scheme := range []string{"light", "dark"} {
			c.Do(c.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
			where := eval[[]float64](c.window, fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("main .primary")].find(e => e.textContent.trim() === %q) ?? document.querySelector("main form .primary");
				b.scrollIntoView({ block: "center" }); const r = b.getBoundingClientRect(); window.hovered = b; return [r.x + r.width / 2, r.y + r.height / 2] })()`, at[1]))
			c.Do(chromedp.MouseEvent("mouseMoved", where[0], where[1]))
			c.WaitFor(`window.hovered.matches(":hover")`)
			c.is.True(eval[bool](c.window, `(() => {
				const light = (color) => { const [r, g, b] = color.match(/[\d.]+/g).map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
				const style = getComputedStyle(window.hovered), [a, b] = [light(style.color), light(style.backgroundColor)];
				return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) >= 4.5 })()`)) // path
		}
	}
	c.calm()
}
