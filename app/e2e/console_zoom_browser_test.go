package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"confab/storage"
)

// outOfReach finds controls that somebody with a keyboard cannot see when they have the
// focus: outside of the window, or below something that covers them.
const outOfReach = `(() => {
	const found = [];
	const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
	for (const one of all.filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.type !== "hidden" && !e.closest("[inert]"))) {
		one.focus();
		if (document.activeElement !== one) continue; // nobody gets there
		const box = one.getBoundingClientRect();
		const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth), top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
		const seen = right - left > 4 && bottom - top > 4 && [0.5, 0.2, 0.8].some((y) => [0.5, 0.1, 0.9].some((x) => {
			const at = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
			return at && (one.contains(at) || at.contains(one) || [...(one.labels ?? [])].some((l) => l.contains(at)));
		}));
		if (!seen) found.push((one.ariaLabel || one.textContent || one.id || one.tagName).trim().slice(0, 40) + " at " + [box.left, box.top, box.right, box.bottom].map(Math.round));
	}
	return found;
})()`

// TestScreensCanBeUsedAtFourHundredPercent: a window of 1280 by 1024 is then one of 320 by 256.
func TestScreensCanBeUsedAtFourHundredPercent(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have it in blue?"))
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"Yes, and in sand."}`)
	s.await(number, id, isStatus("read"))

	c := s.console(t, storage.RoleAdmin)
	c.Do(chromedp.EmulateViewport(320, 256), c.Prefers("prefers-reduced-motion", "reduce"))
	for _, one := range []struct{ path, heading, role, name string }{
		{"inbox", "Inbox", "link", "Ana Ruiz"}, {"inbox/" + ana, "Inbox", "textbox", "Message"}, {"phone/15550001111", "Phone", "textbox", "Write as Ana Ruiz"},
		{"trace/" + id, "“Yes, and in sand.”", "button", "Copy as curl"}, {"contacts", "Contacts", "link", "Ana Ruiz"}, {"log", "Log", "tab", "Jobs"},
		{"settings/people", "People", "button", "Invite"}, {"settings/keys", "API keys", "button", "New key"}, {"settings/profile", "Profile", "button", "Save"},
		{"webhooks", "Webhooks", "button", "New webhook"}, {"templates", "Templates", "button", "Sync"},
	} {
		c.openAddress(one.path)
		c.heading(one.heading)
		c.Find(one.role, one.name)
		c.isReached(one.path)
	}

	// Nor do those who are not signed in need more room.
	c.Do(command(cdpnetwork.ClearBrowserCookies, cdp.Empty{}))
	_, link := s.invitePerson("bo@example.com", storage.RoleAgent)
	for _, path := range []string{"/console/sign-in", link, "/console/welcome/none"} {
		c.Visit(s.app.URL() + path)
		c.WaitFor(`document.querySelector("h1") !== null`)
		c.isReached(path)
	}
}

// isReached checks that a small window shows all of a page, and each control that has the focus.
func (c *colleague) isReached(path string) {
	c.t.Helper()
	c.WaitFor(`document.documentElement.scrollWidth <= 320 && !(document.querySelector("main")?.scrollWidth > 320)`)
	for _, one := range eval[[]string](c.window, outOfReach) {
		c.t.Errorf("%s: %s", path, one)
	}
}
