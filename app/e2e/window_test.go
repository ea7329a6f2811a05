package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// stepTimeout is how long one step in the browser may take on a busy machine.
const stepTimeout = time.Minute

// window is a window of a browser that records the requests and the errors of pages.
type window struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// openWindow opens a window, which closes with the test and shares nothing with other windows:
// no cookie, no storage, no cache. Only with options it is in a browser of its own.
// Without a browser on this machine the test is skipped.
func openWindow(t testing.TB, more ...chromedp.ExecAllocatorOption) *window {
	t.Helper()
	b := &window{t: t, ctx: startWindow(t, findBrowser(t), more)}

	follow(b, cdpnetwork.RequestWillBeSent, func(e cdpnetwork.EventRequestWillBeSent) {
		b.record(&b.requests, e.Request.URL)
	})
	follow(b, log.EntryAdded, func(e log.EventEntryAdded) {
		b.record(&b.complaints, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
	})
	follow(b, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) {
		b.record(&b.complaints, describeException(e.ExceptionDetails))
	})
	return b
}

// describeException is the text of an exception, and where it comes from.
func describeException(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// follow calls fn with each event from now on, until the window closes.
func follow[E any](b *window, event cdp.Event[E], fn func(E)) {
	events := chromedp.Events(b.ctx, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			fn(e)
		}
	}()
}

func (b *window) record(list *[]string, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, text)
}

// Requests lists the URLs that the browser has asked for.
func (b *window) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

// Errors lists the errors that the browser has logged: errors of scripts, and what
// the security policy of a page forbade.
func (b *window) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.complaints...)
}

// forget leaves out what there was so far of requests and errors.
func (b *window) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests, b.complaints = nil, nil
}

// Do runs steps that must succeed.
func (b *window) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// command is a step that sends a command of the browser's protocol.
func command[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// eval returns the value of an expression in the page. It waits for promises.
func eval[T any](b *window, expression string) T {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// WaitFor waits until an expression is true, in this page or the one that follows.
func (b *window) WaitFor(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()

	for pause := shortestPause; ; pause = min(2*pause, longestPause/2) { // to look costs less than a search
		// An error is no failure: between two pages nothing can be evaluated.
		if yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && yes {
			return
		}
		select {
		case <-ctx.Done():
			where, _ := chromedp.Run(b.ctx, chromedp.Location())
			b.t.Fatalf("%s never became true, at %s", expression, where)
		case <-time.After(pause):
		}
	}
}

// Visit goes to a page and waits until it is loaded.
func (b *window) Visit(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Prefers is a step that sets what the visitor prefers: names of media features, each
// with its value.
func (b *window) Prefers(features ...string) chromedp.Action[chromedp.Void] {
	var set []*emulation.MediaFeature
	for i := 0; i < len(features); i += 2 {
		set = append(set, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: set})
}

// Screenshot takes a screenshot of the window.
func (b *window) Screenshot() []byte {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()

	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}
