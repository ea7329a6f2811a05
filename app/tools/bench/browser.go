package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"confab/app/tools/rig"
)

const (
	// openedConversations is how many conversations are opened one after the other, and
	// shownCallbacks how many messages come in while one is on screen.
	openedConversations, shownCallbacks = 20, 20
	// pageVisits is how often a page is visited.
	pageVisits = 20
)

// browser measures what a person in front of a browser waits for.
func (b *bench) browser(ctx context.Context, o *installation) error {
	path := rig.FindBrowser()
	if path == "" {
		b.table.add(row{id: "P21", what: "the console in a browser", figure: "not measured", detail: "there is no Chromium here"})
		return nil
	}
	cookie, err := o.signIn(ctx, "person")
	if err != nil {
		return err
	}
	page, err := rig.OpenPage(path)
	if err != nil {
		return err
	}
	defer page.Close()
	defer context.AfterFunc(ctx, page.Close)()

	if err := b.measurePaint(page, "sign-in page", o.URL()+"/console/sign-in"); err != nil {
		return err
	}
	name, value, _ := strings.Cut(cookie, "=")
	session := network.SetCookieParams{Name: name, Value: value, URL: o.URL()}
	if _, err := chromedp.Call(page.Context, network.SetCookie, session); err != nil {
		return err
	}
	if err := b.measurePaint(page, "inbox", o.URL()+"/console/inbox"); err != nil {
		return err
	}
	return b.measureInbox(ctx, page, o)
}

// measurePaint measures how long after the visit of a page something of it is seen.
func (b *bench) measurePaint(page *rig.Page, what, url string) error {
	var waits []time.Duration
	for range pageVisits {
		if err := page.Visit(url); err != nil {
			return err
		}
		took, err := rig.Evaluate[float64](page, `new Promise(done => new PerformanceObserver(l =>
			l.getEntriesByName("first-contentful-paint").forEach(e => done(e.startTime))).observe({ type: "paint", buffered: true }))`)
		if err != nil {
			return err
		}
		waits = append(waits, milliseconds(took))
	}
	b.addBrowserRow("first paint of the "+what, waits, 200)
	return nil
}

// milliseconds is a time as a browser has it.
func milliseconds(value float64) time.Duration {
	return time.Duration(value * float64(time.Millisecond))
}

// addBrowserRow adds a row whose goal is for 19 of 20.
func (b *bench) addBrowserRow(what string, waits []time.Duration, limit float64) {
	first := ms(waits[0])
	b.table.addLimited(ms(percentile(waits, 95)), limit, " ms", row{
		id:        "P21",
		what:      what + ", in Chromium, p95",
		callbacks: callbacksOff,
		detail:    fmt.Sprintf("p50 %.0f ms of %d, the first %.0f ms", ms(percentile(waits, 50)), len(waits), first),
	})
}

// measureInbox measures how long a conversation takes to open, and a message of a person
// to be on screen.
func (b *bench) measureInbox(ctx context.Context, page *rig.Page, o *installation) error {
	write := func(n int64) error {
		_, err := load{address: o.Address, connections: 1, request: func() []byte { return o.callbackOf(n, 1) }}.run(ctx)
		return err
	}
	for n := range int64(2 * openedConversations) {
		if err := write(n); err != nil {
			return err
		}
	}
	if err := page.Visit(o.URL() + "/console/inbox"); err != nil {
		return err
	}
	if err := page.WaitFor(fmt.Sprintf(`document.querySelectorAll("[data-conversation]").length >= %d`, openedConversations)); err != nil {
		return err
	}

	opened, err := openConversations(page)
	if err != nil {
		return err
	}
	b.addBrowserRow("conversation opened → painted", opened, 100)

	// The person of the conversation that is open writes on.
	at, err := rig.Evaluate[string](page, `document.querySelector(".row.current a").textContent`)
	if err != nil {
		return err
	}
	var person int64
	if _, err := fmt.Sscanf(at, "Person %d", &person); err != nil {
		return err
	}
	shown, err := watchArrivals(page, func() error {
		person += people // whose number is the same
		return write(person)
	})
	if err != nil {
		return err
	}
	b.addBrowserRow("callback → message on screen", shown, 250)
	return nil
}

// openConversations opens conversations of the list one after the other.
func openConversations(page *rig.Page) (waits []time.Duration, err error) {
	ids, err := rig.Evaluate[[]string](page, `[...document.querySelectorAll("a[data-conversation]")].map(a => a.dataset.conversation)`)
	if err != nil {
		return nil, err
	}
	if len(ids) < openedConversations {
		return nil, fmt.Errorf("the list shows %d conversations", len(ids))
	}

	for _, id := range ids[:openedConversations] {
		took, err := rig.Evaluate[float64](page, fmt.Sprintf(`new Promise(done => {
			const began = performance.now();
			document.querySelector("[data-conversation=%s]").click();
			const look = () => location.pathname.endsWith(%q) && document.querySelector("article")
				&& document.querySelector(".thread-name h2")?.textContent === document.querySelector(".row.current a")?.textContent
				? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))) : requestAnimationFrame(look);
			look();
		})`, id, id))
		if err != nil {
			return nil, err
		}
		waits = append(waits, milliseconds(took))
	}
	return waits, nil
}

// watchArrivals lets messages come into the conversation that is open, and returns how long
// each took from when it was written until it was painted.
func watchArrivals(page *rig.Page, write func() error) (waits []time.Duration, err error) {
	watch := `void (() => {
		const articles = () => [...document.querySelectorAll("[role=log] article")];
		const before = new Set(articles().map(a => a.id));
		globalThis.seen = new Map();
		new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
			for (const a of articles()) {
				const caused = a.textContent.match(/` + rig.TimestampMark + `(\d+)\./)?.[1];
				if (!caused || before.has(a.id) || seen.has(caused)) continue;
				seen.set(caused, performance.timeOrigin + performance.now() - Number(caused) / 1e6);
			}
		}))).observe(document.querySelector("[role=log]"), { childList: true, subtree: true });
	})()`
	if _, err := rig.Evaluate[any](page, watch); err != nil {
		return nil, err
	}

	for i := range shownCallbacks {
		if err := write(); err != nil {
			return nil, err
		}
		if err := page.WaitFor(fmt.Sprintf(`seen.size >= %d`, i+1)); err != nil {
			return nil, err
		}
	}
	took, err := rig.Evaluate[[]float64](page, `[...seen.values()]`)
	for _, one := range took {
		waits = append(waits, milliseconds(one))
	}
	return waits, err
}
