package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"confab/storage"
	"confab/storage/storagetest"
)

// The push service of the browser is out of reach here, so its part is played in the page; the
// service worker is the real one.
func TestAPersonSwitchesNotificationsOn(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable)
	pushed := make(chan http.Header, 10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pushed <- r.Header
		w.WriteHeader(http.StatusCreated)
	}))
	defer service.Close()

	ana := s.says(s.connect(), "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.consoleAt(t, storage.RoleAgent, "settings/notifications", "Notifications")
	c.WaitFor(`document.querySelector("link[rel=manifest]") !== null`)
	manifest := eval[map[string]any](c.window, `fetch(document.querySelector("link[rel=manifest]").href).then((r) => r.json())`)
	c.is.Equal(manifest["display"], "standalone")
	c.is.Equal(eval[int](c.window, fmt.Sprintf(`fetch(new URL(%q, document.querySelector("link[rel=manifest]").href)).then((r) => r.status)`,
		manifest["icons"].([]any)[0].(map[string]any)["src"])), 200)
	c.shoot("settings-notifications")
	c.fits()

	eval[any](c.window, fmt.Sprintf(`void (
		Notification.requestPermission = async () => "granted",
		PushManager.prototype.getSubscription = async () => globalThis.subscription ?? null,
		PushManager.prototype.subscribe = async ({ applicationServerKey: key }) => globalThis.subscription = {
			endpoint: %q,
			key,
			unsubscribe: async () => true,
			toJSON: () => ({ endpoint: %[1]q, keys: {
				p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", auth: "BTBZMqHH6r4Tts7J_aSIgg" } }),
		})`, service.URL+"/send/1"))
	c.Click("switch", "This device")
	c.Find("button", "Send a test")
	c.WaitFor(`subscription.key.length === 87`)
	c.is.Equal(eval[string](c.window, `navigator.serviceWorker.ready.then((r) => new URL(r.active.scriptURL).pathname)`), "/console/sw.js")
	c.is.Equal(storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM push_devices`), []int{1})
	c.Click("button", "Send a test")
	c.toast("Test sent")
	got := <-pushed
	c.is.True(strings.HasPrefix(got.Get("Authorization"), "vapid t="))

	c.Click("radio", "Everything")
	c.toast("Saved")
	c.is.Equal(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT notify_about FROM users WHERE role = 'agent' AND password_hash IS NOT NULL`), []string{"everything"})
	c.Click("switch", "Sound")
	c.WaitFor(`localStorage["confab.sound"] === "on"`)

	c.Click("switch", "This device")
	c.Gone("button", "Send a test")
	s.becomesTrue(func() bool {
		return storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM push_devices`)[0] == 0
	})
	eval[any](c.window, `void (globalThis.subscription = { unsubscribe: async () => { subscription = null; } })`) // of a server that was here before, with another key
	c.Click("switch", "This device")
	c.Find("button", "Send a test")
	c.WaitFor(`subscription.key.length === 87`)

	c.Click("button", "Account")
	c.Click("menuitemcheckbox", "Available")
	s.becomesTrue(func() bool {
		return storagetest.Select[int](t, s.app.Config.DataDir, `SELECT available FROM users WHERE role = 'agent' AND password_hash IS NOT NULL`)[0] == 0
	})
	c.WaitFor(`document.querySelector("#me small").textContent === "Away"`)
	c.Click("button", "Account")
	c.Find("menuitemcheckbox", "Away")
	c.showsPushes(ana)
	c.calm("status of 404")
}

// showsPushes lets the service worker get a push, and clicks on what it shows: that leads to the conversation,
// in a console that is open or else in a new one. What the browser would do with both is only recorded.
func (c *colleague) showsPushes(conversation string) {
	c.t.Helper()
	worker := c.serviceWorker()
	event := func(kind, fields string) string {
		return `dispatchEvent(Object.assign(new Event("` + kind + `"), { ` + fields + `, waitUntil: (done) => done.catch(() => {}) }))`
	}
	eval[any](worker, `void (
		registration.showNotification = async (title, options) => { globalThis.shown = { title, ...options }; },
		WorkerNavigator.prototype.setAppBadge = async (n) => { globalThis.badge = n; },
		Clients.prototype.openWindow = async (url) => { globalThis.opened = String(url); })`)
	push := `{"title":"Ana Ruiz","body":"hi","tag":"t","conversation":"` + conversation + `","unread":3}`
	c.is.True(eval[bool](worker, event("push", `data: { json: () => (`+push+`) }`)))
	c.is.Equal(eval[[]string](worker, `[shown.title, shown.body, shown.tag, String(badge)]`), []string{"Ana Ruiz", "hi", "t", "3"})

	click := event("notificationclick", `notification: { data: shown.data, close: () => { shown.isClosed = true; } }`)
	c.open("settings/profile", "Profile") // a click may come as soon as the page is there
	c.is.True(eval[bool](worker, click+` && shown.isClosed`))
	c.WaitFor(`location.pathname === "/console/inbox/` + conversation + `"`)
	c.Visit(c.stage.app.URL() + "/console/welcome/none") // which has no screens
	c.is.True(eval[bool](worker, click))
	worker.WaitFor(`globalThis.opened === "` + c.stage.app.URL() + `/console/inbox/` + conversation + `"`)
}

// serviceWorker is the service worker of a window, to evaluate expressions in. It does not end any more by itself.
func (c *colleague) serviceWorker() *window {
	c.t.Helper()
	var id target.ID
	c.stage.becomesTrue(func() bool {
		all, err := chromedp.Targets(c.ctx)
		c.is.NoErr(err)
		for _, one := range all {
			if one.Type == "service_worker" && strings.HasPrefix(one.URL, c.stage.app.URL()) {
				id = one.TargetID
			}
		}
		return id != ""
	})
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithTargetID(id))
	c.t.Cleanup(cancel)
	c.is.NoErr(chromedp.Do(ctx)) // attached by a step with a limit of time, it would be left at its end
	return &window{t: c.t, ctx: ctx}
}

// Somebody may join, or take the conversation, while another looks for whom to give it to.
func thoseToAssignToFollowWhatChanges(c *colleague, number string) {
	s := c.stage
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c.goTo("inbox", "Inbox")
	c.openConversation("Ana Ruiz")
	c.Click("combobox", "Assignee")
	c.Find("dialog", "Assign")
	c.Gone("option", "Nobody")

	dee, _ := s.invitePerson("dee@example.com", storage.RoleAgent) // somebody joins
	c.Find("option", dee.Name)
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.DisableUser(dee.ID) })
	c.Gone("option", dee.Name)
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.EnableUser(dee.ID) })
	c.Find("option", dee.Name)
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+ana, `{"assigned_to":"`+dee.ID+`"}`)
	c.Find("option", "Nobody")
	c.Gone("option", dee.Name) // has it now
	c.calm()
}
