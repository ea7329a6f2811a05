package e2e

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

var screenshots = flag.String("screenshots", "", "directory for pictures of each state of the pages")

// onlooker is somebody who opens setup links in a real browser.
type onlooker struct {
	*window
	t        *testing.T
	is       *is.I
	stage    *stage
	platform string // the site that links lead back to
}

// welcomeBack is the platform's page.
var welcomeBack = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!doctype html><title>The platform</title><link rel=icon href=data:,><h1>Welcome back</h1>")
})

func newOnlooker(t *testing.T, s *stage, more ...chromedp.ExecAllocatorOption) *onlooker {
	t.Helper()
	b := openWindow(t, more...)
	platform := httptest.NewServer(welcomeBack)
	t.Cleanup(platform.Close)
	b.Do(chromedp.EmulateViewport(1280, 800))
	return &onlooker{window: b, t: t, is: is.New(t), stage: s, platform: platform.URL}
}

// back is the body of a link that leads to the platform.
func (o *onlooker) back() string {
	return fmt.Sprintf(`{"success_redirect_url":%q,"failure_redirect_url":%q}`, o.platform+"/ok?x=1", o.platform+"/failed?x=1")
}

// returned waits until the visitor is at the platform, and returns with what.
func (o *onlooker) returned() url.Values {
	o.t.Helper()
	o.WaitFor(`document.title === "The platform" && document.readyState === "complete"`)
	u, err := url.Parse(eval[string](o.window, `location.href`))
	o.is.NoErr(err)
	o.is.Equal(u.Query().Get("x"), "1")
	o.is.Equal(eval[string](o.window, `document.referrer`), "") // the token is passed to no other site
	return u.Query()
}

// heading waits for the page with a heading.
func (o *onlooker) heading(text string) {
	o.t.Helper()
	o.WaitFor(fmt.Sprintf(`document.readyState === "complete" && document.querySelector("h1")?.textContent === %q`, text))
}

// press clicks on the visible element of that name.
func (o *onlooker) press(name string) {
	o.t.Helper()
	found := fmt.Sprintf(`[...document.querySelectorAll("button, a")].find(e => e.textContent.trim() === %q && !e.disabled)`, name)
	o.WaitFor(found + ` !== undefined`)
	at := eval[[]float64](o.window, `(e => { e.scrollIntoView(); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })(`+found+`)`)
	o.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// calm checks that the browser had nothing against the pages since it was checked last, which
// asked for nothing of others. That a page is gone, or not there, is no complaint, nor that a session
// ended while something was read.
func (o *onlooker) calm(hosts ...string) {
	o.t.Helper()
	errors, requests := o.news()
	errors = slices.DeleteFunc(errors, func(text string) bool {
		return strings.Contains(text, "status of 401") || strings.Contains(text, "status of 410") || strings.Contains(text, "status of 404") || strings.Contains(text, "status of 422")
	})
	for _, text := range errors {
		o.t.Error(text)
	}
	for _, request := range requests {
		own := func(host string) bool { return strings.HasPrefix(request, host+"/") }
		if !slices.ContainsFunc(append(hosts, o.stage.app.URL(), o.platform), own) && !strings.HasPrefix(request, "data:") {
			o.t.Errorf("the page asked for %s", request)
		}
	}
}

// shoot takes pictures of the page: on a phone and on a desk, in light and dark.
func (o *onlooker) shoot(name string) {
	o.t.Helper()
	if *screenshots == "" && *axeFile == "" {
		return
	}
	for _, device := range []struct {
		name          string
		width, height int64
		scale         float64
	}{{"phone", 390, 844, 2}, {"desktop", 1280, 800, 1}} {
		for _, scheme := range []string{"light", "dark"} {
			o.Do(chromedp.EmulateViewport(device.width, device.height, chromedp.EmulateScale(device.scale)), o.prefers(scheme))
			keepPicture(o.t, o.window, name+"-"+device.name+"-"+scheme)
		}
	}
	o.Do(chromedp.EmulateViewport(1280, 800), o.prefers("light"))
}

func (o *onlooker) prefers(scheme string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// TestSetupLinksInABrowser opens one after the other in one window.
func TestSetupLinksInABrowser(t *testing.T) {
	parallelBrowser(t)
	s := newSandbox(t, func(c *config.Config) { c.Provider.Timeout = 8 * time.Second })
	o := newOnlooker(t, s)
	aLinkIsCompleted(o)
	aLinkIsCancelledAndTakenUpAgain(o)
	otherLinksCannotBeUsed(o)
	aLinkNeedsNoScripts(o)
	aLinkLeadsToAnIPv6Address(o)
	thePlatformMaySendTheVisitorOn(o)
	aSignupUnderWayIsFollowed(o)
	nothingRunsThatOthersWrote(o)
}

func aLinkIsCompleted(o *onlooker) {
	s := o.stage
	customer, link := s.invite("Bakery Nord", o.back())
	o.Visit(link)
	o.heading("Connect your business number")
	o.shoot("form")
	// With nothing but the keyboard.
	o.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Bakery Nord"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("+1 555 078 3881"), chromedp.KeyEvent(kb.Enter))
	query := o.returned()
	o.is.Equal(query.Get("status"), "success")
	o.is.Equal(query.Get("customer_id"), customer)
	o.is.True(strings.HasPrefix(query.Get("account_id"), "acc_"))
	o.is.Equal(s.types(), []string{"customer.created", "customer.setup_link.created", "customer.setup_link.consumed", "customer.onboarded"})

	o.Visit(link) // again
	o.is.Equal(o.returned().Get("reason"), "already_used")

	_, plain := s.invite("Bakery Nord", `{}`)
	o.Visit(plain)
	o.press("Connect number")
	o.heading("Your number is connected")
	o.shoot("connected")
	o.Visit(plain)
	o.heading("This link was already used")
	o.shoot("used")
	o.calm()
}

func aLinkIsCancelledAndTakenUpAgain(o *onlooker) {
	s := o.stage
	customer, link := s.invite("Bakery", o.back())
	o.Visit(link)
	o.press("Cancel")
	query := o.returned()
	o.is.Equal(query.Get("reason"), "signup_cancelled")
	o.is.Equal(query.Get("status"), "failed")
	o.is.Equal(query.Get("customer_id"), customer)
	eval[any](o.window, `void setTimeout(() => history.back())`) // it leaves the page, and must answer before
	o.heading("Connect your business number")
	o.WaitFor(`!document.querySelector("button").disabled`) // also where the browser kept the page
	o.press("Connect number")
	o.is.Equal(o.returned().Get("status"), "success")

	_, plain := s.invite("Bakery", `{}`)
	o.Visit(plain)
	o.press("Cancel")
	o.heading("Setup was cancelled")
	o.shoot("cancelled")
	o.press("Try again")
	o.heading("Connect your business number")
	o.Type("#name", "Bakery Nord")
	o.Type("#phone_number", "call me")
	o.press("Connect number")
	o.WaitFor(`document.querySelector("[role=alert]") !== null`)
	o.WaitFor(`document.activeElement.id === "phone_number"`) // where the mistake is
	o.is.Equal(eval[string](o.window, `document.querySelector("#name").value`), "Bakery Nord")
	o.shoot("mistake")
	s.fault(`{"kind":"error_code","code":133005,"endpoint":"register"}`)
	eval[any](o.window, `void (document.querySelector("#phone_number").value = "")`)
	o.press("Connect number")
	o.heading("We couldn’t verify the number")
	o.shoot("failed")
	o.press("Try again")
	o.press("Connect number")
	o.heading("Your number is connected")
	o.calm()
}

func otherLinksCannotBeUsed(o *onlooker) {
	s := o.stage
	before := len(s.types())
	customer, _ := s.invite("Bakery", `{}`)
	for _, body := range []string{o.back(), `{}`} {
		made := s.link(customer, body)
		storagetest.Exec(o.t, s.app.Config.DataDir, `UPDATE setup_links SET expires_at = 1 WHERE id = ?`, made["id"])
		o.Visit(made["setup_url"].(string))
		if body == `{}` {
			o.heading("This link has expired")
			o.shoot("expired")
		} else {
			o.is.Equal(o.returned().Get("reason"), "link_expired")
		}
	}
	made := s.link(customer, `{}`)
	s.call("DELETE", s.app.URL()+"/v1/customers/"+customer+"/setup_links/"+made["id"].(string), "")
	o.Visit(made["setup_url"].(string))
	o.heading("This link was revoked")
	o.Visit(made["setup_url"].(string) + "x")
	o.heading("This link is not valid")
	o.shoot("unknown")
	o.calm()
	o.is.Equal(s.types()[before:], []string{"customer.created", "customer.setup_link.created", "customer.setup_link.created", "customer.setup_link.created", "customer.setup_link.created"})
}

func aLinkNeedsNoScripts(o *onlooker) {
	run := func(scripts bool) {
		o.Do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts}))
	}
	run(false)
	defer run(true)
	_, link := o.stage.invite("Bakery", o.back())
	o.Visit(link)
	o.press("Connect number")
	o.is.Equal(o.returned().Get("status"), "success")
	o.calm()
}

func aLinkLeadsToAnIPv6Address(o *onlooker) {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		o.t.Log("there is no IPv6 here:", err)
		return
	}
	site := &httptest.Server{Listener: listener, Config: &http.Server{Handler: welcomeBack}}
	site.Start()
	o.t.Cleanup(site.Close)
	platform := o.platform
	defer func() { o.platform = platform }()
	o.platform = site.URL
	for _, press := range []string{"Cancel", "Connect number"} {
		_, link := o.stage.invite("Bakery", o.back())
		o.Visit(link)
		o.press(press)
		o.is.True(o.returned().Has("status"))
	}
	o.calm()
}

// Browsers hold the form's policy against every step of the way.
func thePlatformMaySendTheVisitorOn(o *onlooker) {
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, o.platform+r.URL.RequestURI(), http.StatusFound) // as one does that has visitors log in elsewhere
	}))
	o.t.Cleanup(door.Close)
	for _, press := range []string{"Cancel", "Connect number"} {
		_, link := o.stage.invite("Bakery", fmt.Sprintf(`{"success_redirect_url":%q,"failure_redirect_url":%q}`, door.URL+"/ok?x=1", door.URL+"/failed?x=1"))
		o.Visit(link)
		o.press(press)
		o.is.True(o.returned().Has("status"))
	}
	o.calm(door.URL)
}

// nothingRunsThatOthersWrote gives the organization another name.
func nothingRunsThatOthersWrote(o *onlooker) {
	s := o.stage
	evil := `"><script>document.title="owned"</script><img src=x onerror='document.title="owned"'>`
	storagetest.Exec(o.t, s.app.Config.DataDir, `UPDATE organizations SET name = ?`, evil)
	s.app.DB.DropCaches()
	_, link := s.invite(evil, `{}`)
	o.Visit(link)
	o.heading("Connect your business number")
	o.is.Equal(eval[string](o.window, `document.querySelectorAll(".party b")[1].textContent`), evil) // shown as it was written
	o.is.True(strings.HasPrefix(eval[string](o.window, `document.title`), "Connect"))
	o.shoot("evil")
	o.press("Connect number")
	o.heading("Your number is connected")
	o.calm()
}

func aSignupUnderWayIsFollowed(o *onlooker) {
	s := o.stage
	_, link := s.invite("Bakery Nord", `{}`)
	s.fault(`{"kind":"timeout","endpoint":"register"}`) // once: the browser has eight seconds, and a second until the retry
	answer := make(chan seen, 1)
	go func() { answer <- ask(o.t, "POST", link, connecting("", "")) }()
	o.is.True(until(func() bool { return s.working() > 0 }))
	o.Visit(link) // in another window meanwhile
	o.heading("Connecting your number")
	o.shoot("working")
	o.heading("This link was already used") // the page has looked again by itself
	o.is.Equal((<-answer).reason(), "200 Your number is connected")
	o.calm()
}

// working counts the signups that are under way.
func (s *stage) working() (n int) {
	s.t.Helper()
	storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) error {
		all, err := rx.Jobs(storage.JobFilter{Kind: storage.KindOnboard, Limit: 10})
		n = len(all)
		return err
	})
	return n
}
