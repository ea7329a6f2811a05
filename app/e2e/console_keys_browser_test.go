package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestKeys is about the keys of programs, in one window of an admin.
func TestKeys(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.console(t, storage.RoleAdmin)
	aNewAdminGetsAKeyThatWorks(c)

	number := s.connect()
	aLeakedKeyIsReplaced(c, number)
	s.connect()
	keysHaveLimits(c, number)
	whoIsSignedOutComesBack(c)
}

// aNewAdminGetsAKeyThatWorks begins at the inbox.
func aNewAdminGetsAKeyThatWorks(c *colleague) {
	s := c.stage
	c.Click("link", "Settings")
	c.Click("link", "API keys")
	c.row("No label", "never", "active")
	c.fits()
	c.Click("button", "New key")
	c.Find("dialog", "New key")
	c.shoot("new-key")
	c.Press("shop")
	c.Click("button", "Create key")
	c.Find("button", "Copy key")
	c.shoot("key-made")
	shown := c.shown()
	c.is.Equal(len(shown), 2)
	c.is.Equal(s.keyStatus(shown[0]), 200)
	c.is.Equal(shown[1], `curl -H "Authorization: Bearer `+shown[0]+`" `+s.app.URL()+`/v1/me`)
	c.Press(kb.Escape)
	c.Gone("dialog", "New key")
	c.keepsNowhere(shown[0])
	c.row("shop", "…"+shown[0][len(shown[0])-4:], "now")
	c.shoot("keys")

	eval[any](c.window, `void [...document.querySelectorAll("tr")].find(r => r.textContent.includes("shop")).querySelector("button").focus()`)
	c.Press(kb.Enter)
	c.Find("dialog", "Revoke “shop”?")
	c.shoot("revoke")
	c.Click("button", "Revoke")
	c.toast("Key revoked")
	c.row("shop", "revoked")
	c.is.Equal(s.keyStatus(shown[0]), 401)
	c.jump("new api", "") // on the same screen
	c.Find("dialog", "New key")
	c.is.Equal(c.at(), "settings/keys")
	c.Press(kb.Escape)
	c.calm()
}

// A key got into wrong hands: what was done with it, another one for the program, and it is
// of no use any more.
func aLeakedKeyIsReplaced(c *colleague, number string) {
	s := c.stage
	c.newKey("old shop", "Never")
	leaked := c.shown()[0]
	c.Click("button", "Done")
	ask(c.t, "GET", s.app.URL()+"/v1/"+number+"/contacts", nil, "Authorization: Bearer "+leaked)
	s.send(number, "+15550001111", `"type":"text","text":{"body":"by another key"}`)

	// What it was used for is one step away.
	c.row("old shop", "now", "active")
	eval[any](c.window, `void [...document.querySelectorAll("tbody tr")].find(r => r.textContent.includes("old shop")).querySelector("a").click()`)
	c.heading("Log")
	c.row("GET", "/v1/"+number+"/contacts", "200", "old shop")
	c.WaitFor(`document.querySelectorAll("tbody tr").length === 1`)
	c.is.Equal(c.Describe("combobox", "Key").Value, "old shop")
	c.shoot("log-of-key")

	c.goTo("settings/keys", "API keys")
	c.newKey("shop", "In 30 days")
	fresh := c.shown()[0]
	c.Click("button", "Done")
	c.row("shop", eval[string](c.window, `new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }).format(Date.now() + 30 * 86400000)`), "active")
	c.edit("old shop", "Revoke")
	c.Find("dialog", "Revoke “old shop”?")
	c.confirm("Revoke")
	c.toast("Key revoked")
	c.row("old shop", "revoked")
	c.is.Equal(s.keyStatus(leaked), 401)
	c.is.Equal(s.keyStatus(fresh), 200)
	c.goTo("log/audit?action=key.", "Log")
	c.row("API key revoked", "Mira Kovač", "old shop")
	c.calm()
}

// newKey makes a key, which is shown then.
func (c *colleague) newKey(label, lifetime string) {
	c.t.Helper()
	c.Click("button", "New key")
	c.Fill("textbox", "Label", label)
	c.pick("Expires", lifetime)
	c.Click("button", "Create key")
	c.Find("button", "Copy key")
}

// whoIsSignedOutComesBack signs out everybody who looks at the keys.
func whoIsSignedOutComesBack(c *colleague) {
	c.row("active")
	storagetest.Update(c.t, c.stage.app.DB, func(tx *storage.Tx) error {
		u, err := tx.UserBySignIn("admin@example.com")
		if err == nil {
			_, err = tx.DeleteUserSessions(u.ID, "")
		}
		return err
	})
	c.Find("heading", "Sign in") // the page is notified, and leaves by itself
	c.signIn("admin@example.com")
	c.heading("API keys")
	c.calm("status of 401")
}

// keysHaveLimits needs a second number to choose from.
func keysHaveLimits(c *colleague, number string) {
	s := c.stage
	c.open("settings/keys", "API keys")
	c.row("No label", "Everything", "All numbers")

	c.Click("button", "New key")
	c.Find("radiogroup", "Access")
	c.Find("group", "Numbers")
	c.WaitFor(`document.querySelector("dialog input[name=access]:checked").value === "all"`)
	c.Gone("group", "Scopes")
	c.Fill("textbox", "Label", "reports")
	c.Click("radio", "Read only")
	c.Gone("group", "Scopes")
	c.Click("button", "Create key")
	c.Find("button", "Copy key")
	c.is.Equal(s.keyLimits(c.shown()[0]), `[read] <nil>`)
	c.Click("button", "Done")
	c.row("reports", "Read only", "All numbers")

	// Nothing is chosen at first, which is said where it is chosen.
	c.Click("button", "New key")
	c.Fill("textbox", "Label", "shop")
	c.Click("radio", "Choose")
	c.Find("group", "Scopes")
	c.Click("button", "Create key")
	c.WaitFor(`document.querySelector("dialog .checks .wrong")?.textContent === "Choose at least one."`)
	c.shoot("new-key-limits")
	c.Click("checkbox", "Send")
	c.Click("checkbox", "Webhooks")
	eval[any](c.window, `void document.querySelector("dialog input[value='`+number+`']").click()`)
	c.Click("button", "Create key")
	c.Find("button", "Copy key")
	c.is.Equal(s.keyLimits(c.shown()[0]), `[send webhooks] [`+number+`]`)
	c.Click("button", "Done")

	s.keyWith(storage.Key{Label: new("helper"), Agent: new("Night desk"), Scopes: storage.Strings{"inbox", "read", "send"}})
	c.row("shop", "Send, Webhooks")
	c.row("helper", "Bot: Night desk", "Read, Send, Inbox", "All numbers")
	c.shoot("keys-limits")
	c.calm()
}

// keyLimits are the scopes and the numbers of a key, as /me shows them.
func (s *stage) keyLimits(secret string) string {
	s.t.Helper()
	before := s.tenant.Secret
	defer func() { s.tenant.Secret = before }()
	s.tenant.Secret = secret
	key := s.call("GET", s.app.URL()+"/v1/me", "")["api_key"].(map[string]any)
	return fmt.Sprint(key["scopes"], " ", key["phone_number_ids"])
}
