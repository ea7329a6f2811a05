package e2e

import (
	"fmt"
	"testing"

	"confab/storage"
)

func TestAnAdminMakesKeysWithLimits(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number, _ := s.connect(), s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "settings/keys", "API keys")
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
