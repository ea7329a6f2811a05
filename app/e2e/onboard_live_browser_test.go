package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/app/config"
)

// networkScript is what the provider's script does, as far as a page sees it:
// its login opens a window that reports two things, one of them through the
// script.
const networkScript = `
window.FB = {
  init(options) { window.initOptions = options; },
  login(done, options) {
    window.loginOptions = options;
    addEventListener("message", (event) => {
      if (event.origin === "https://www.facebook.com" && event.data.response) done(event.data.response);
    });
    window.open("https://www.facebook.com/dialog");
  },
};
window.fbAsyncInit?.();`

// network plays the provider's hosts for a browser.
type network struct {
	stage  *stage
	dialog atomic.Value // the messages that the next window posts, as JavaScript
	server *httptest.Server
}

func newNetwork(t *testing.T, s *stage) *network {
	n := &network{stage: s}
	n.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "connect.facebook.net" && r.URL.Path == "/en_US/sdk.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			w.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprint(w, networkScript)
		case r.Host == "www.facebook.com" && r.URL.Path == "/dialog":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<link rel=icon href=data:,><script>%s; window.close();</script>`, n.dialog.Load())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(n.server.Close)
	return n
}

// options lead the provider's names here, and that of a server in the neighbourhood to this machine.
func (n *network) options() []chromedp.ExecAllocatorOption {
	here := n.server.Listener.Addr().String()
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("host-resolver-rules", "MAP connect.facebook.net "+here+", MAP www.facebook.com "+here+", MAP confab.test 127.0.0.1"), chromedp.IgnoreCertErrors,
	}
}

const told, coded = `opener.postMessage(JSON.stringify(%s), "*")`, `opener.postMessage({response: {authResponse: {code: %q}}}, "*")`

// finishes makes the next window report a finished signup, in this order.
func (n *network) finishes(codeFirst bool) {
	got := n.stage.signup("Bakery Nord")
	ids := fmt.Sprintf(told, fmt.Sprintf(`{type: "WA_EMBEDDED_SIGNUP", event: "FINISH", data: {waba_id: %q, phone_number_id: %q}}`, got.WABAID, got.PhoneNumberID))
	code := fmt.Sprintf(coded, got.Code)
	if codeFirst {
		ids, code = code, ids
	}
	n.dialog.Store(ids + ";" + code)
}

// cancels makes the next window report that its visitor cancelled.
func (n *network) cancels() {
	n.dialog.Store(fmt.Sprintf(told, `{type: "WA_EMBEDDED_SIGNUP", event: "CANCEL", data: {current_step: "PHONE_NUMBER_SETUP"}}`) + `; opener.postMessage({response: {status: "unknown"}}, "*")`)
}

// TestSetupLinksWhereNamesLeadElsewhere needs a browser of its own, one for three servers.
func TestSetupLinksWhereNamesLeadElsewhere(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, signing, reachable)
	n := newNetwork(t, s)
	o := newOnlooker(t, s, n.options()...)
	theProvidersSignupRuns(o, n)

	s = newStage(t, signing, coexisting, reachable)
	o.stage, n.stage = s, s
	theProvidersSignupIsCancelled(o, n)

	o.stage = newSandbox(t, func(c *config.Config) { c.Server.PublicURL = "http://confab.test" })
	aLinkIsCompletedOverPlainHTTP(o)
}

func theProvidersSignupRuns(o *onlooker, n *network) {
	s := o.stage
	for _, codeFirst := range []bool{false, true} {
		n.finishes(codeFirst)
		customer, link := s.invite("Bakery Nord", o.back())
		o.Visit(link)
		o.heading("Connect your business number")
		o.WaitFor(`!document.querySelector("[data-signup]").disabled`)
		o.shoot("live")
		o.is.Equal(eval[string](o.window, `initOptions.appId + " " + initOptions.version`), s.sim.Credentials().AppID+" v26.0")
		// A page that has the window can post to it, but is not the provider.
		forged := `postMessage(JSON.stringify({type: "WA_EMBEDDED_SIGNUP", event: "FINISH", data: {waba_id: "1", phone_number_id: "1"}}), "*")`
		eval[any](o.window, `void document.querySelector("[data-signup]").addEventListener("click", () => `+forged+`)`)
		o.press("Connect number")
		query := o.returned()
		o.is.Equal(query.Get("status"), "success")
		o.is.Equal(query.Get("customer_id"), customer)
	}
	o.is.Equal(len(s.types()), 8)
	o.calm("https://connect.facebook.net", "https://www.facebook.com")
}

func theProvidersSignupIsCancelled(o *onlooker, n *network) {
	s := o.stage
	_, link := s.invite("Bakery Nord", o.back())
	n.cancels()
	o.Visit(link)
	eval[any](o.window, `void document.querySelector("form").addEventListener("submit", (event) => {
		event.preventDefault();
		window.sent = new FormData(event.target).getAll("action").join();
	})`)
	o.press("Connect number")
	o.WaitFor(`window.sent === "cancel"`)
	o.WaitFor(`document.querySelector("button[value=cancel]").disabled`)
	o.is.Equal(eval[string](o.window, `document.querySelector("[data-status]").textContent`), "") // nothing is being connected
	o.is.Equal(eval[string](o.window, `JSON.stringify(loginOptions.extras)`),
		`{"version":"v4","setup":{},"sessionInfoVersion":"3","featureType":"whatsapp_business_app_onboarding"}`)
	o.is.Equal(eval[int](o.window, `document.querySelectorAll("input[name=action]").length`), 0) // nothing stays for the next press
	o.Visit(link)
	o.press("Connect number")
	o.is.Equal(o.returned().Get("reason"), "signup_cancelled")
	o.Visit(link)
	o.press("Cancel")
	o.is.Equal(o.returned().Get("reason"), "signup_cancelled")
	n.finishes(true)
	o.Visit(link)
	o.press("Connect number")
	o.is.Equal(o.returned().Get("status"), "success")
	for _, request := range o.Requests() {
		o.is.True(!strings.Contains(request, "code=")) // the code is posted to us, and is in no address
	}
	o.calm("https://connect.facebook.net", "https://www.facebook.com")
}

// A browser says less about where a form comes from when the page is neither https
// nor on its own machine, as when a phone opens a sandbox.
func aLinkIsCompletedOverPlainHTTP(o *onlooker) {
	s := o.stage
	local := "http://" + s.app.Config.Server.Listen
	customer := s.call("POST", local+"/v1/customers", `{"name":"Bakery"}`)["id"].(string)
	link := s.call("POST", local+"/v1/customers/"+customer+"/setup_links", o.back())["setup_url"].(string)
	_, port, err := net.SplitHostPort(s.app.Config.Server.Listen)
	o.is.NoErr(err)
	o.Visit("http://confab.test:" + port + strings.TrimPrefix(link, "http://confab.test"))
	o.press("Connect number")
	o.is.Equal(o.returned().Get("status"), "success")
}
