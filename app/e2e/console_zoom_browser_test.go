package e2e

import (
	"testing"

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
	for path, control := range map[string][2]string{
		"inbox": {"link", "Ana Ruiz"}, "inbox/" + ana: {"textbox", "Message"}, "phone/15550001111": {"textbox", "Write as Ana Ruiz"}, "trace/" + id: {"button", "Copy as curl"},
		"contacts": {"link", "Ana Ruiz"}, "log": {"tab", "Jobs"}, "settings/people": {"button", "Invite"}, "settings/keys": {"button", "New key"},
		"settings/profile": {"button", "Save"}, "webhooks": {"button", "New webhook"}, "templates": {"button", "Sync"},
	} {
		c.Visit(s.app.URL() + "/console/" + path)
		c.Find(control[0], control[1])
		c.WaitFor(`document.documentElement.scrollWidth <= 320 && document.querySelector("main").scrollWidth <= 320`)
		for _, one := range eval[[]string](c.window, outOfReach) {
			t.Errorf("%s: %s", path, one)
		}
	}

	out := newOnlooker(t, s)
	out.Do(chromedp.EmulateViewport(320, 256))
	_, link := s.invitePerson("bo@example.com", storage.RoleAgent)
	for _, path := range []string{"/console/sign-in", link, "/console/welcome/none"} {
		out.Visit(s.app.URL() + path)
		out.WaitFor(`document.querySelector("h1") !== null && document.documentElement.scrollWidth <= 320`)
		for _, one := range eval[[]string](out.window, outOfReach) {
			t.Errorf("%s: %s", path, one)
		}
	}
}
