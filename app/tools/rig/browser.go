package rig

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"
)

// browsers are what the programs are called that people look at pages with.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// windowless are what tests look at pages with, the first that is here. The Makefile has
// the same names.
var windowless = append([]string{"chromium-headless-shell"}, browsers...)

// FindBrowser returns the path of a browser as people have it, "" where there is none.
func FindBrowser() string { return findProgram(browsers...) }

// FindWindowless returns the path of a browser without a window: it shows the same pages
// with half of the work. Where there is none it is any other.
func FindWindowless() string { return findProgram(windowless...) }

func findProgram(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Page is a page in a browser of its own.
type Page struct {
	Context context.Context
	Close   func() // ends the browser
}

// stepTimeout is how long one step in a browser may take on a busy machine.
const stepTimeout = 30 * time.Second

// Yielding lets a browser leave the processor to everything else, as if it ran on a machine of its own.
// It stands in the place of what ends a browser together with this process, which has to close it.
var Yielding = chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
	if nice, err := exec.LookPath("nice"); err == nil {
		cmd.Path, cmd.Args = nice, append([]string{"nice", "-n", "10", cmd.Path}, cmd.Args[1:]...)
	}
})

// OpenPage starts the browser at a path.
func OpenPage(path string, more ...chromedp.ExecAllocatorOption) *Page {
	var err error
	for range 5 { // some die before they show anything
		ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(append(more,
			chromedp.ExecPath(path), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-component-update", true))...))

		// Without a limit of time, at whose end the browser would end too.
		if err = chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err == nil {
			return &Page{ctx, cancel}
		}
		cancel()
	}
	return Must[*Page](nil, err)
}

// Visit goes to a URL and waits until it is loaded.
func (p *Page) Visit(url string) {
	ctx, cancel := context.WithTimeout(p.Context, stepTimeout)
	defer cancel()
	Check(chromedp.Do(ctx, chromedp.Navigate(url)))
}

// Evaluate returns the value of an expression in the page. It waits for promises.
func Evaluate[T any](p *Page, expression string) T {
	ctx, cancel := context.WithTimeout(p.Context, stepTimeout)
	defer cancel()
	return Must(chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)))
}

// WaitFor waits until an expression is true.
func (p *Page) WaitFor(expression string) {
	var err error
	for began := time.Now(); time.Since(began) < 2*stepTimeout; time.Sleep(20 * time.Millisecond) {
		// An error is no failure: between two pages nothing can be evaluated.
		isTrue := false
		if err = Catch(func() { isTrue = Evaluate[bool](p, expression) }); isTrue {
			return
		}
	}
	Check(fmt.Errorf("never became true: %s (%v)", expression, err))
}
