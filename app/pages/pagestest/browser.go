// Package pagestest looks at pages with a real browser, where there is one.
package pagestest

import (
	"context"
	"iter"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long one step in the browser may take on a busy machine.
const patience = time.Minute

// Browser is a window of a browser that remembers what it asked for and what it
// complained about.
type Browser struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// Open opens a window, which closes with the test. Without a browser on this
// machine the test is skipped.
func Open(t testing.TB, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	options := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program(t)), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	}, more...)
	b := &Browser{t: t, ctx: start(t, options)}
	go follow(chromedp.Events(b.ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) { b.note(&b.requests, e.Request.URL) })
	go follow(chromedp.Events(b.ctx, log.EntryAdded), func(e log.EventEntryAdded) { b.note(&b.complaints, e.Entry.Text) })
	go follow(chromedp.Events(b.ctx, runtime.ExceptionThrown), func(e runtime.EventExceptionThrown) { b.note(&b.complaints, e.ExceptionDetails.Text) })
	return b
}

// starts is how often a browser may die before it shows anything, which is no
// fault of a page.
const starts = 5

// start starts the browser, and returns the context that it lives in.
func start(t testing.TB, options []chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	for n := 1; ; n++ {
		ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		if err == nil {
			_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
		}
		if err == nil {
			t.Cleanup(cancel)
			return ctx
		}
		cancel()
		if n == starts {
			t.Fatal(err)
		}
		t.Logf("the browser did not start, once more: %v", err)
	}
}

// program finds a browser.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no browser here: install chromium to look at pages")
	return ""
}

// follow hands each event to fn until the browser closes.
func follow[E any](events iter.Seq2[E, error], fn func(E)) {
	for e, err := range events {
		if err != nil {
			return
		}
		fn(e)
	}
}

func (b *Browser) note(list *[]string, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, text)
}

// Requests lists the URLs that the browser has asked for.
func (b *Browser) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

// Complaints lists what the browser had against the pages: errors of scripts,
// and what their security policy forbade.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.complaints...)
}

// Do takes steps that must succeed.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Command is a step that gives the browser a command of its protocol.
func Command[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// Eval is the value of an expression in the page; promises are waited for.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true, in this page or the one that follows.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		// Between two pages there is nothing to ask.
		if yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && yes {
			return
		}
		select {
		case <-ctx.Done():
			where, _ := chromedp.Run(b.ctx, chromedp.Location())
			b.t.Fatalf("%s never became true, at %s", expression, where)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Visit goes to a page and waits until it is loaded.
func (b *Browser) Visit(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Shot is a picture of what the window shows.
func (b *Browser) Shot() []byte {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}
