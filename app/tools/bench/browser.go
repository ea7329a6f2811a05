package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"confab/app/tools/rig"
)

// repeats is how often a page is visited, how many conversations are opened one after the other, and how
// many messages come in while one is on screen.
const repeats = 20

// browser measures what a person in front of a browser waits for.
func (b *bench) browser(o *installation) {
	path := rig.FindBrowser()
	if path == "" {
		b.table.add("P21", "the console in a browser", "not measured", nil, "there is no Chromium here")
		return
	}
	cookie := o.signIn("person")
	page := rig.OpenPage(path)
	rig.Cleanup(page.Close)

	b.measurePaint(page, "sign-in page", o.URL()+"/console/sign-in")
	name, value, _ := strings.Cut(cookie, "=")
	rig.Must(chromedp.Call(page.Context, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: o.URL()}))
	b.measurePaint(page, "inbox", o.URL()+"/console/inbox")
	b.measureInbox(page, o)
}

// measurePaint measures how long after the visit of a page something of it is seen.
func (b *bench) measurePaint(page *rig.Page, what, url string) {
	var waits []time.Duration
	for range repeats {
		page.Visit(url)
		waits = append(waits, milliseconds(rig.Evaluate[float64](page, `new Promise(done => new PerformanceObserver(l =>
			l.getEntriesByName("first-contentful-paint").forEach(e => done(e.startTime))).observe({ type: "paint", buffered: true }))`)))
	}
	b.addBrowserRow("first paint of the "+what, waits, 200)
}

func milliseconds(value float64) time.Duration {
	return time.Duration(value * float64(time.Millisecond))
}

// addBrowserRow adds a row whose goal is for 19 of 20.
func (b *bench) addBrowserRow(what string, waits []time.Duration, limit float64) {
	first := ms(waits[0])
	b.table.addLimited("P21", what+", in Chromium, p95", ms(rig.Percentile(waits, 95)), limit, " ms",
		fmt.Sprintf("p50 %.0f ms of %d, the first %.0f ms", ms(rig.Percentile(waits, 50)), len(waits), first))
}

// measureInbox measures how long a conversation takes to open, and a message of a person
// to be on screen.
func (b *bench) measureInbox(page *rig.Page, o *installation) {
	write := func(n int64) {
		load{address: o.Address, connections: 1, request: func() []byte { return o.callbackOf(n) }}.run()
	}
	for n := range int64(2 * repeats) {
		write(n)
	}
	page.Visit(o.URL() + "/console/inbox")
	page.WaitFor(fmt.Sprintf(`document.querySelectorAll("[data-conversation]").length >= %d`, repeats))
	b.addBrowserRow("conversation opened → painted", openConversations(page), 100)

	// The person of the conversation that is open writes on.
	var person int64
	rig.Must(fmt.Sscanf(rig.Evaluate[string](page, `document.querySelector(".row.current a").textContent`), "Person %d", &person))
	shown := watchArrivals(page, func() {
		person += int64(people) // whose number is the same
		write(person)
	})
	b.addBrowserRow("callback → message on screen", shown, 250)
}

func openConversations(page *rig.Page) (waits []time.Duration) {
	ids := rig.Evaluate[[]string](page, `[...document.querySelectorAll("a[data-conversation]")].map(a => a.dataset.conversation)`)
	for _, id := range ids[:repeats] {
		waits = append(waits, milliseconds(rig.Evaluate[float64](page, fmt.Sprintf(`new Promise(done => {
			const began = performance.now();
			document.querySelector("[data-conversation=%s]").click();
			const look = () => location.pathname.endsWith(%q) && document.querySelector("article")
				&& document.querySelector(".thread-name h2")?.textContent === document.querySelector(".row.current a")?.textContent
				? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))) : requestAnimationFrame(look);
			look();
		})`, id, id))))
	}
	return waits
}

// watchArrivals lets messages come into the conversation that is open, and returns how long
// each took from when it was written until it was painted.
func watchArrivals(page *rig.Page, write func()) (waits []time.Duration) {
	rig.Evaluate[any](page, `void (() => {
		const articles = () => [...document.querySelectorAll("[role=log] article")];
		const before = new Set(articles().map(a => a.id));
		globalThis.seen = new Map();
		new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
			for (const a of articles()) {
				const caused = a.textContent.match(/`+rig.TimestampMark+`(\d+)\./)?.[1];
				if (!caused || before.has(a.id) || seen.has(caused)) continue;
				seen.set(caused, performance.timeOrigin + performance.now() - Number(caused) / 1e6);
			}
		}))).observe(document.querySelector("[role=log]"), { childList: true, subtree: true });
	})()`)

	for i := range repeats {
		write()
		page.WaitFor(fmt.Sprintf(`seen.size >= %d`, i+1))
	}
	for _, one := range rig.Evaluate[[]float64](page, `[...seen.values()]`) {
		waits = append(waits, milliseconds(one))
	}
	return waits
}
