package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/chromedp/chromedp/kb"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"confab/storage"
	"confab/storage/storagetest"
)

// The push service of the browser is out of reach here, so its part is played in the page; the
// service worker is the real one.
func aPersonSwitchesNotificationsOn(c *colleague) {
	t, s := c.t, c.stage
	pushed := make(chan http.Header, 10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pushed <- r.Header
		w.WriteHeader(http.StatusCreated)
	}))
	defer service.Close()

	c.goTo("settings/notifications", "Notifications")
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
	c.Click("button", "Account")
	c.Find("menuitemcheckbox", "Away")
	c.Press(kb.Escape)
	c.calm()
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
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+ana, `{"assigned_to":"`+dee.ID+`"}`)
	c.Find("option", "Nobody")
	c.Gone("option", dee.Name) // has it now
	c.calm()
}
