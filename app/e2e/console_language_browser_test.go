package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
)

// collisions finds what does not fit on a screen: texts that are cut without a sign of it, and
// texts that lie over others.
const collisions = `(() => {
	const found = [];
	const say = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);
	if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than its window: " + document.documentElement.scrollWidth);

	const clipped = (e) => { for (; e; e = e.parentElement) if (getComputedStyle(e).clipPath !== "none") return true; return false; };
	const layer = (e) => { for (; e; e = e.parentElement) if (/fixed|sticky/.test(getComputedStyle(e).position)) return e; return null; };
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const shown = [];
	while (texts.nextNode()) {
		const node = texts.currentNode, parent = node.parentElement;
		if (!node.data.trim() || parent.closest(".unseen, option, script, style, [inert], pre, textarea") || clipped(parent) || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		const box = range.getBoundingClientRect();
		if (box.width < 1 || box.bottom < 0 || box.top > innerHeight) continue;
		shown.push({ node, layer: layer(parent), boxes: [...range.getClientRects()] });

		for (let e = parent; e && e !== document.body; e = e.parentElement) {
			const style = getComputedStyle(e);
			if (style.overflowX === "visible") continue;
			const cut = e.scrollWidth > e.clientWidth + 1 && style.overflowX !== "auto" && style.overflowX !== "scroll" && style.textOverflow !== "ellipsis";
			if (cut && e.clientWidth > 1) found.push("cut: " + say(node.data) + " in " + e.className + " of " + e.clientWidth + " px, not " + e.scrollWidth);
			break;
		}
	}

	const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
	for (let i = 0; i < shown.length; i++) {
		for (let j = i + 1; j < shown.length; j++) {
			const a = shown[i], b = shown[j];
			if (a.layer === b.layer && a.boxes.some((x) => b.boxes.some((y) => meet(x, y)))) found.push(say(a.node.data) + " lies over " + say(b.node.data));
		}
	}
	return [...new Set(found)].slice(0, 8);
})()`

// isAtRest is there when nothing of the page has changed for a while.
const isAtRest = `new Promise((done) => {
	let timer = setTimeout(done, 200);
	new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, 200); }).observe(document.body, { subtree: true, childList: true });
})`

// Spanish has the longest texts, and Arabic is read from the right.
func TestScreensFitInOtherLanguages(t *testing.T) {
	parallelBrowser(t)
	s, _ := sandboxed(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have it in blue?"))
	sent := s.send(number, "+15550001111", `"type":"text","text":{"body":"Yes, and in sand."}`)
	s.await(number, sent, isStatus("read"))
	paths := []string{
		"inbox", "inbox/" + ana, "contacts", "templates", "templates/new", "broadcasts", "broadcasts/new", "rules", "rules/new", "reports", "costs", "webhooks",
		"customers", "numbers", "numbers/" + number, "log", "log?tab=jobs", "log?tab=audit", "trace/" + sent, "phone/15550001111", "settings/profile",
		"settings/people", "settings/keys", "settings/labels", "settings/quick-replies", "settings/notifications", "settings/health",
	}

	c := s.consoleAt(t, storage.RoleAdmin, "settings/profile", "Profile")
	label, save := "Language", "Save"
	for _, spoken := range []struct{ tag, dir, title, inbox, label, save string }{
		{"es", "ltr", "Perfil", "Bandeja", "Idioma", "Guardar"},
		{"ar", "rtl", "الملف الشخصي", "صندوق الوارد", "اللغة", "حفظ"},
	} {
		c.choose(label, spoken.tag)
		c.Click("button", save)
		c.WaitFor(fmt.Sprintf(`document.documentElement.lang === %q && document.documentElement.dir === %q`, spoken.tag, spoken.dir))
		c.heading(spoken.title)
		c.Find("link", spoken.inbox)
		label, save = spoken.label, spoken.save

		for _, path := range paths {
			c.openAddress(path)
			c.WaitFor(fmt.Sprintf(`location.href.endsWith(%q) && document.querySelector("h1") && document.querySelector("main").ariaBusy !== "true"`, path))
			eval[any](c.window, isAtRest)
			if spoken.tag == "es" { // asked for its tree, a page is slower from then on
				c.namesAgree()
			}
			c.shoot("language-" + spoken.tag + "-" + strings.NewReplacer("/", "-", "?tab=", "-").Replace(path))
			for _, width := range []int64{390, 1280} {
				c.Do(chromedp.EmulateViewport(width, 800))
				for _, one := range eval[[]string](c.window, collisions) {
					t.Errorf("%s, %d: %s: %s", spoken.tag, width, path, one)
				}
			}
		}
		c.open("settings/profile", spoken.title)
	}
}
