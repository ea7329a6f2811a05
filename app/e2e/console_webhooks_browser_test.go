package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/jobs/webhook"
	"confab/storage"
)

// hook makes a webhook, and returns its id and its secret.
func (s *stage) hook(url string, events ...string) (id, secret string) {
	s.t.Helper()
	if events == nil {
		events = []string{"*"}
	}
	made := s.call("POST", s.app.URL()+"/v1/webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":%s}`, url, jsStrings(events)))
	return made["id"].(string), made["initial_secret"].(string)
}

// text waits until the page shows a text.
func (c *colleague) text(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, text))
}

// choose chooses an option of a combobox, as a person does with the keyboard.
func (c *colleague) choose(name, value string) {
	c.t.Helper()
	c.Focus("combobox", name)
	eval[any](c.window, fmt.Sprintf(`void (e => { e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.activeElement)`, value))
}

// TestWebhooks is about those of a server that gives up at once, in one window of an admin.
func TestWebhooks(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable, func(c *config.Config) {
		c.Webhooks.RetrySchedule, c.Webhooks.DisableAfterFailures, c.Webhooks.DisableMinAge = nil, 3, 0
	})
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks", "Webhooks")
	r := newReceiver(t, nil)
	secret := aWebhookIsMade(c, r)
	aSecretIsRotated(c, r, secret)
	aWebhookIsChangedAndDeleted(c)
	aPausedWebhookIsResumedElsewhere(c)

	aDeliveryShowsHowItWasSigned(c)
	anEndpointThatAnswered500IsRepaired(c)
	whatStrangersWriteAboutWebhooksIsText(c)
}

// aWebhookIsMade makes the first one, and ends on its page. It returns its secret.
func aWebhookIsMade(c *colleague, r *receiver) (secret string) {
	c.Find("heading", "No webhooks yet")
	c.shoot("webhooks-none")
	c.Click("button", "New webhook")
	c.Find("dialog", "New webhook")
	c.shoot("webhook-new")
	c.Press(kb.Enter)
	c.is.Equal(c.Describe("textbox", "URL").Properties["invalid"], "true")
	c.Fill("textbox", "URL", "ftp://nothing")
	c.Fill("textbox", "Headers", "no colon")
	c.Click("button", "Save")
	c.WaitFor(`document.querySelector("dialog textarea").ariaInvalid === "true"`)
	c.Fill("textbox", "Headers", "X-Shop: nord\nAuthorization: Bearer abc")
	c.Click("button", "Save")
	c.WaitFor(`document.querySelector("dialog input[name=url]").ariaInvalid === "true"`)
	c.is.True(strings.Contains(c.Describe("textbox", "URL").Description, "URL must"))
	c.Fill("textbox", "URL", r.URL+"/hooks")
	c.Fill("textbox", "Description", "shop <b>\u202e")
	c.Click("button", "Save")
	c.Find("button", "Copy secret")
	c.shoot("webhook-secret")
	secret = c.shown()[0]
	c.is.True(strings.HasPrefix(secret, webhook.SecretPrefix))
	c.Click("button", "Done")
	c.row(r.URL+"/hooks", "shop <b>\u202e", "active")
	c.keepsNowhere(secret)
	c.fits()

	c.Click("link", r.URL+"/hooks")
	c.heading(r.URL + "/hooks")
	c.Find("heading", "No deliveries yet")
	c.Click("button", "Send test event")
	c.Find("dialog", "Send test event")
	c.WaitFor(`document.querySelector("dialog textarea").value.includes("wamid.sample")`)
	c.shoot("webhook-test")
	c.Click("button", "Send test event")
	c.heading("message.received")
	came := r.next()
	c.is.NoErr(webhook.Verify(came.header.Get("X-Svc-Signature"), came.body, time.Now(), secret))
	c.is.Equal(came.header.Get("X-Shop"), "nord")

	c.Do(chromedp.NavigateBack())
	c.heading(r.URL + "/hooks")
	c.row("message.received", "delivered", "200")
	c.calm("status of 400", "status of 422")
	return secret
}

// Both secrets sign until the old one is revoked.
func aSecretIsRotated(c *colleague, r *receiver, secret string) {
	s := c.stage
	c.Click("button", "Rotate secret")
	c.Find("dialog", "Rotate secret")
	c.Click("button", "Rotate")
	c.Find("button", "Copy secret")
	second := c.shown()[0]
	c.Click("button", "Done")
	c.WaitFor(`document.querySelectorAll("[aria-label=Secrets] tbody tr").length === 2`)
	c.shoot("webhook")
	id := strings.TrimPrefix(c.at(), "webhooks/")
	s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{}`)
	came := r.next()
	for _, one := range []string{secret, second} {
		c.is.NoErr(webhook.Verify(came.header.Get("X-Svc-Signature"), came.body, time.Now(), one))
	}
	revoke := `void document.querySelector("[aria-label=Secrets] tbody button").click()`
	eval[any](c.window, revoke)
	c.Find("dialog", "Revoke this secret?")
	c.Click("button", "Revoke")
	c.toast("Secret revoked")
	c.WaitFor(`document.querySelectorAll("[aria-label=Secrets] tbody tr").length === 1`)
	eval[any](c.window, revoke)
	c.Click("button", "Revoke")
	c.WaitFor(`document.querySelector("dialog [role=alert]")?.textContent.includes("only signing secret")`) // the last one stays
	c.Click("button", "Cancel")
	c.calm("status of 400", "status of 422")
}

func aWebhookIsChangedAndDeleted(c *colleague) {
	s, id := c.stage, strings.TrimPrefix(c.at(), "webhooks/")
	c.Click("button", "More")
	c.Click("menuitem", "Pause")
	c.text("Paused: deliveries wait")
	c.Click("button", "Resume")
	c.toast("Webhook active")
	c.Click("button", "Edit")
	c.Click("checkbox", "All, including future ones")
	c.Click("checkbox", "contact.created")
	c.Click("button", "Save")
	c.toast("Saved")
	c.is.Equal(s.call("GET", s.app.URL()+"/v1/webhook_subscriptions/"+id, "")["events"], []any{"contact.created"})
	c.is.Equal(s.call("GET", s.app.URL()+"/v1/webhook_subscriptions/"+id, "")["custom_headers"], map[string]any{"X-Shop": "nord", "Authorization": "Bearer abc"})
	c.Click("button", "More")
	c.Click("menuitem", "Delete")
	c.Find("dialog", "Delete this webhook?")
	c.Click("button", "Delete")
	c.heading("Webhooks")
	c.Find("heading", "No webhooks yet")
	c.goTo("webhooks/"+id, "Not found")
	c.goTo("webhooks", "Webhooks") // else it looks again when others come
	c.calm("status of 404")
}

// aPausedWebhookIsResumedElsewhere is about a delivery that waits until then.
func aPausedWebhookIsResumedElsewhere(c *colleague) {
	s := c.stage
	wait := make(chan struct{})
	release := sync.OnceFunc(func() { close(wait) })
	r := newReceiver(c.t, func(http.ResponseWriter, *http.Request) { <-wait })
	defer release()
	id, _ := s.hook(r.URL + "/paused")
	path := s.app.URL() + "/v1/webhook_subscriptions/" + id
	s.call("PATCH", path, `{"status":"paused"}`)
	waiting := s.call("POST", path+"/test", `{"event_type":"message.sent"}`)["id"].(string)

	c.goTo("deliveries/"+waiting, "message.sent")
	c.text("No attempts yet: the webhook is paused.")
	s.call("PATCH", path, `{"status":"active"}`)
	c.text("No attempts yet. Each one shows up here")
	release()
	c.row("1", "200")
	c.goTo("log", "Log") // what is about webhooks looks for it once more
	s.exchange("DELETE", path, "")
	c.calm()
}

// lateSample lets the types of events come after a click, and the sample of the first type after
// that of the next.
const lateSample = `void (fetch => {
	const [clicked, next] = [Promise.withResolvers(), Promise.withResolvers()];
	addEventListener("click", (event) => event.isTrusted && clicked.resolve());
	let asked = 0;
	window.fetch = async (...call) => {
		const answer = await fetch(...call);
		if (String(call[0]).includes("event_types")) await clicked.promise;
		if (!String(call[0]).includes("event_sample")) return answer;
		if (++asked === 2) setTimeout(next.resolve, 50);
		else await next.promise.then(() => setTimeout(() => window.lateSampleCame = true, 50));
		return answer;
	};
})(window.fetch)`

func aDeliveryShowsHowItWasSigned(c *colleague) {
	r := newReceiver(c.t, nil)
	id, secret := c.stage.hook(r.URL + "/it's")
	eval[any](c.window, lateSample)
	c.goTo("webhooks/"+id, r.URL+"/it's")
	c.Click("button", "Send test event")
	c.Find("dialog", "Send test event") // the page behind it has a type to choose too
	c.choose("Type", "contact.created")
	c.WaitFor(`window.lateSampleCame && document.querySelector("dialog textarea").value.includes("contact.created")`)
	c.Fill("textbox", "Sample", `{"it's": ["<b>mine</b>", 1.50`)
	c.Click("button", "Send test event")
	c.WaitFor(`document.querySelector("dialog textarea").ariaInvalid === "true"`)
	c.Fill("textbox", "Sample", `{"it's": ["<b>mine</b>", "ümlaut"]}`)
	c.Click("button", "Send test event")
	c.heading("contact.created")
	came := r.next()
	c.is.Equal(string(came.body), `{"it's":["<b>mine</b>","ümlaut"]}`)
	c.Do(chromedp.Reload())
	c.heading("contact.created")
	c.text("Delivered: 200")
	c.row("1", "200")
	c.text("<b>mine</b>")
	for _, name := range []string{"X-Svc-Signature", "Webhook-Signature", "X-Svc-Delivery-Id", "Webhook-Id"} {
		c.text(came.header.Get(name)) // as it was sent
	}

	c.calm()
	whatIsTypedStaysWhileOthersAreDelivered(c, r, id)
	aSignatureIsComputed(c, secret)
	aDeliveryIsRepeated(c, r, came)
}

// whatIsTypedStaysWhileOthersAreDelivered is on the page of a delivery, which is read again with every
// other of a webhook.
func whatIsTypedStaysWhileOthersAreDelivered(c *colleague, r *receiver, id string) {
	c.Fill("textbox", "Signing secret", "whsec_half")
	eval[any](c.window, `void (real => (window.fetch = async (at, ...more) => {
		const answer = await real(at, ...more);
		if (String(at).endsWith("/request")) setTimeout(() => (window.readAgain = true), 50);
		return answer;
	}))(fetch)`)
	c.stage.call("POST", c.stage.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{"event_type":"message.sent"}`)
	r.next()
	c.WaitFor(`window.readAgain === true`)
	c.is.Equal(eval[string](c.window, `document.querySelector("#secret").value`), "whsec_half")
}

// aSignatureIsComputed is on the page of a delivery that was signed with a secret.
func aSignatureIsComputed(c *colleague, secret string) {
	c.Fill("textbox", "Signing secret", "whsec_wrong")
	c.Click("button", "Compute")
	c.text("does not match This secret didn’t sign it")
	c.Fill("textbox", "Signing secret", secret)
	c.Click("button", "Compute")
	c.text("matches This secret signed the delivery.")
	c.shoot("delivery")
	c.fits()
}

// aDeliveryIsRepeated is on the page of a delivery that came.
func aDeliveryIsRepeated(c *colleague, r *receiver, came hooked) {
	// The command says the same to the endpoint once more.
	eval[any](c.window, `void (navigator.clipboard.writeText = () => Promise.reject(new Error("no")))`)
	c.Click("button", "Copy as curl")
	c.Find("dialog", "Copy as curl")
	c.shoot("delivery-curl")
	if _, err := exec.LookPath("curl"); err == nil {
		c.is.NoErr(exec.Command("sh", "-c", c.shown()[0]).Run())
		again := r.next()
		c.is.Equal(again.body, came.body)
		c.is.Equal(again.header.Get("X-Svc-Signature"), came.header.Get("X-Svc-Signature"))
	}
	c.Press(kb.Escape)
	c.Gone("dialog", "Copy as curl")

	first := c.at()
	c.Click("button", "Replay")
	c.toast("Replayed: this is the new delivery")
	c.WaitFor(`!location.pathname.endsWith("` + first + `")`)
	c.is.Equal(r.next().body, came.body)
	replay := strings.TrimPrefix(c.at(), "deliveries/")
	c.text("Delivered: 200")                                  // after which the link stays where it is
	c.Click("link", strings.TrimPrefix(first, "deliveries/")) // which it repeats
	c.WaitFor(`location.pathname.endsWith("` + first + `")`)
	c.text("Replayed as " + replay)
	c.goTo("deliveries/wbd_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "Not found")
	c.goTo("webhooks", "Webhooks") // else it looks again when others come
	c.calm("status of 404")
}

// hostileAnswer is a megabyte of what an endpoint should not answer.
var hostileAnswer = "<script>alert(1)</script><h1>\u202eOwned</h1>" + strings.Repeat("<img src=x onerror=alert(1)>", 1<<15)

// anEndpointThatAnswered500IsRepaired leaves all webhooks in order.
func anEndpointThatAnswered500IsRepaired(c *colleague) {
	s := c.stage
	var well atomic.Bool
	r := newReceiver(c.t, func(w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(500)
			w.Write([]byte(hostileAnswer))
		}
	})
	id, _ := s.hook(r.URL + "/wrong")
	path := s.app.URL() + "/v1/webhook_subscriptions/" + id
	for range 3 {
		s.call("POST", path+"/test", `{"event_type":"message.sent"}`)
	}
	s.becomesTrue(func() bool { return s.call("GET", path, "")["status"] == "disabled" })

	c.goTo("settings/health", "Health")
	c.text("disabled")
	c.Click("link", r.URL+"/wrong")
	c.heading(r.URL + "/wrong")
	c.text("Disabled: too many attempts failed in a row.")
	c.WaitFor(`document.querySelectorAll("[aria-label=Deliveries] tbody tr").length === 3`)
	c.row("message.sent", "dead", "500")
	c.shoot("webhook-disabled")
	eval[any](c.window, `void document.querySelector("[aria-label=Deliveries] tbody a").click()`)
	c.heading("message.sent")
	c.text("The endpoint answered 500 Internal Server Error. Delivery stopped.")
	c.text(`<script>alert(1)</script><h1>`)
	c.shoot("delivery-dead")
	c.fits()
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main img, main script").length`), 0.0)
	c.Click("button", "Replay")
	c.WaitFor(`document.querySelector(".toast.bad") !== null`) // it is disabled
	c.calm("status of 409")

	well.Store(true)
	anEndpointIsMovedAndGetsWhatIsDead(c, r)
}

// anEndpointIsMovedAndGetsWhatIsDead begins at one of three dead deliveries.
func anEndpointIsMovedAndGetsWhatIsDead(c *colleague, r *receiver) {
	c.Do(chromedp.NavigateBack())
	c.Click("button", "Edit")
	c.Click("button", "Cancel") // which changes nothing
	c.Gone("dialog", "Edit webhook")
	c.heading(r.URL + "/wrong")
	c.Click("button", "Edit")
	c.Fill("textbox", "URL", r.URL+"/right")
	c.Click("button", "Save and enable")
	c.heading(r.URL + "/right")
	before := len(r.all())
	c.Click("button", "Replay many")
	c.Find("dialog", "Replay many")
	c.WaitFor(`document.querySelector("dialog").textContent.includes("3 dead deliveries go out again")`)
	c.shoot("replay")
	c.Click("button", "Replay 3")
	c.WaitFor(`document.querySelector("dialog [role=status]")?.textContent === "3 replayed: 3 delivered, 0 failed, 0 in progress."`)
	c.shoot("replayed")
	c.Click("button", "Done")
	c.is.Equal(len(r.all())-before, 3)
	c.WaitFor(`document.querySelectorAll("[aria-label=Deliveries] tbody .chip.good").length === 3`)
	c.Click("button", "Replay many")
	c.WaitFor(`document.querySelector("dialog").textContent.includes("Nothing to replay")`)
	c.Press(kb.Escape)
	c.goTo("settings/health", "Health")
	c.text("All numbers and webhooks are working.")
	c.calm()
}

// What people and endpoints write is text on every screen.
func whatStrangersWriteAboutWebhooksIsText(c *colleague) {
	s := c.stage
	var said atomic.Value
	r := newReceiver(c.t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		fmt.Fprint(w, said.Load())
	})
	for i, text := range hostileTexts {
		said.Store(text)
		body, err := json.Marshal(map[string]any{"url": fmt.Sprint(r.URL, "/", i), "events": []string{"*"}, "description": text, "custom_headers": map[string]string{"X-Text": "<b>&\"'"}})
		c.is.NoErr(err)
		id := s.call("POST", s.app.URL()+"/v1/webhook_subscriptions", string(body))["id"].(string)
		d := s.call("POST", s.app.URL()+"/v1/webhook_subscriptions/"+id+"/test", `{}`)["id"].(string)
		r.next()
		c.is.True(until(func() bool { return s.call("GET", s.app.URL()+"/v1/webhook_deliveries/"+d, "")["status"] == "dead" }))
		c.goTo("webhooks/"+id, fmt.Sprint(r.URL, "/", i))
		c.text(text)
		c.goTo("deliveries/"+d, "message.received")
		c.text(text)
		c.text(`<b>&"'`)
	}
	c.goTo("settings/health", "Health")
	c.text("0% of deliveries succeeded in the last 24 hours. Under 95% counts as failing.")
	c.fits()
	c.goTo("webhooks", "Webhooks")
	for _, text := range hostileTexts {
		c.row(text)
	}
	c.fits()
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main img, main script, main b.evil").length`), 0.0)
	c.calm()
}
