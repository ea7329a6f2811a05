package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"confab/app/tools/rig"
)

// maxStarts is how often a window is opened before the test fails: some browsers die
// before they show anything, which is no fault of a page.
const maxStarts = 5

// shared is the one process of a browser that the windows of most tests are in: to start
// one for each test would take longer than most tests.
var shared struct {
	sync.Mutex
	ctx context.Context
	end context.CancelFunc
}

// windowTests are tests whose windows share one browser. TestMain runs them.
type windowTests struct{ *testing.M }

// Run runs the tests, and ends the browser.
func (t windowTests) Run() int {
	code := t.M.Run()
	if shared.end != nil {
		shared.end()
	}
	return code
}

// startWindow opens a window and returns its context.
func startWindow(t testing.TB, path string, more []chromedp.ExecAllocatorOption) context.Context {
	t.Helper()

	for n := 1; ; n++ {
		ctx, cancel, err := tryWindow(path, more)
		if err == nil {
			t.Cleanup(cancel)
			return ctx
		}
		if n == maxStarts {
			t.Fatal(err)
		}
		t.Logf("the browser did not start, once more: %v", err)
	}
}

// tryWindow opens a window: in the shared browser, or in its own if there are options.
func tryWindow(path string, more []chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc, error) {
	if len(more) > 0 {
		return startBrowser(path, more...)
	}

	browser, err := sharedBrowser(path)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	if err := prepare(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, cancel, nil
}

// sharedBrowser returns the context of the shared browser, which is started if it was not
// or has died.
func sharedBrowser(path string) (context.Context, error) {
	shared.Lock()
	defer shared.Unlock()

	if shared.ctx != nil && shared.ctx.Err() == nil {
		return shared.ctx, nil
	}
	ctx, end, err := startBrowser(path)
	if err != nil {
		return nil, err
	}
	shared.ctx, shared.end = ctx, end
	return ctx, nil
}

// unseen are parts of the browser's own window, which are not seen here: each is a page of
// its own, made anew for every window, and together they cost more than most pages of ours.
var unseen = []string{"WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI", "Translate"}

// startBrowser starts a browser and returns the context of its first window.
func startBrowser(path string, more ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc, error) {
	options := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-features", strings.Join(unseen, ",")),
		chromedp.Flag("force-prefers-reduced-motion", true), // each frame that moves is drawn by the processor
	}, more...)

	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
	if err := prepare(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, cancel, nil
}

// prepare lets a window report what it asks for and what it complains about, and have the
// focus no matter what other windows do.
func prepare(ctx context.Context) error {
	if _, err := chromedp.Call(ctx, cdpnetwork.Enable, cdpnetwork.EnableParams{}); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return err
}

// parallelBrowser is t.Parallel for a test that needs a browser. Without one on this machine the
// test is skipped at once, before a server is started for it in vain.
func parallelBrowser(t *testing.T) {
	t.Helper()
	findBrowser(t)
	t.Parallel()
}

// findBrowser returns the path of a browser, or skips the test.
func findBrowser(t testing.TB) string {
	t.Helper()
	path := rig.FindWindowless()
	if path == "" {
		t.Skip("there is no browser here: install chromium to look at pages")
	}
	return path
}
