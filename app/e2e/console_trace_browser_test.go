package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"confab/app/config"
	"confab/storage"
)

// retrying lets a failed send be tried again soon, and a failed delivery once.
func retrying(c *config.Config) {
	c.Provider.RetrySchedule = []time.Duration{50 * time.Millisecond, 50 * time.Millisecond}
	c.Webhooks.RetrySchedule = []time.Duration{20 * time.Millisecond}
}

// steps are the titles of a trace on screen, oldest first.
func (c *colleague) steps() []string {
	c.t.Helper()
	return eval[[]string](c.window, `[...document.querySelectorAll(".trace .trace-title")].map(e => e.textContent)`)
}

// traceHas waits until a trace has steps with these titles, each once.
func (c *colleague) traceHas(titles ...string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`%s.every(title => [...document.querySelectorAll(".trace .trace-title")].filter(e => e.textContent === title).length === 1)`, jsStrings(titles)))
}

// TestTraces follows messages and events, in one window of an admin.
func TestTraces(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t, reachable, retrying)
	number := s.connect()
	c := s.consoleAt(t, storage.RoleAdmin, "webhooks", "Webhooks")
	anEventAboutNoMessageIsShown(c, number)
	aMessageIsTraced(c, number)
	aTraceNamesItsEndpoints(c, number)
	aTraceOfABroadcastHasAllItsSteps(c, number)
	aTraceOfSomebodyWithALongNameFits(c, number)
	aTraceGrowsWhileItHappens(c, number)
}

// aMessageIsTraced is about a message that was sent at the second attempt, and an endpoint that refused the event of it.
func aMessageIsTraced(c *colleague, number string) {
	s := c.stage
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	hook := newReceiver(c.t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Event") == "message.sent" {
			http.Error(w, "<b>not now</b>", 500)
		}
	})
	subscription, _ := s.subscribe(hook.URL, `"message.sent","message.status"`)
	s.fault(`{"kind":"http_500","times":1}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"Which one <i>would</i> you like?"}`)
	s.await(number, id, isStatus("read"))
	var dead string
	until(func() bool {
		for _, d := range s.deliveries("status=dead") {
			dead = d["id"].(string)
		}
		return dead != ""
	})

	c.goTo("trace/"+id, "“Which one <i>would</i> you like?”")
	c.Find("list", "What happened, oldest first")
	host := strings.TrimPrefix(hook.URL, "http://")
	c.WaitFor(`document.querySelectorAll(".trace-step").length >= 14`)
	steps := c.steps()
	c.is.Equal(steps[:5], []string{
		"POST /v1/" + number + "/messages", "Stored, queued", "Sent to the provider, attempt 1", "Sent to the provider, attempt 2", "Event message.sent",
	})
	c.is.True(slices.Contains(steps, host)) // when, is up to the endpoint
	c.traceHas("Callback: sent", "Callback: delivered", "Callback: read")
	c.is.Equal(eval[float64](c.window, `document.querySelectorAll("main i, main b").length`), 0.0) // what strangers write is text
	c.shoot("trace")
	c.fits()
	whatWasSentIsOneClickAway(c)
	aTraceLeadsToWhatItIsAbout(c, number, dead)
	s.call("DELETE", s.app.URL()+"/v1/webhook_subscriptions/"+subscription, "")
}

func whatWasSentIsOneClickAway(c *colleague) {
	c.is.Equal(eval[string](c.window, `[...document.querySelectorAll(".trace-step.bad .trace-detail")][0].textContent.replace(/in .*? ms/, "in X")`),
		"HTTP 500 in X: An unexpected error has occurred. Please retry your request later. (code 2)")
	eval[any](c.window, `void document.querySelectorAll(".trace-step.bad summary")[0].click()`)
	c.WaitFor(`document.querySelector(".trace-raw pre")?.textContent.includes('"code": 2')`)
	c.shoot("trace-raw")
	c.Click("button", "Copy as curl")
	c.Find("dialog", "This message as an API call")
	c.is.True(strings.Contains(c.shown()[0], `"text":{"body":"Which one <i>would</i> you like?"}`))
	c.Click("button", "Close")
	c.calm()
}

// aTraceLeadsToWhatItIsAbout begins at that trace, of which one delivery died.
func aTraceLeadsToWhatItIsAbout(c *colleague, number, dead string) {
	// A delivery that died is replayed from here.
	c.Click("button", "Replay")
	c.toast("Replayed")
	c.WaitFor(`[...document.querySelectorAll(".trace-detail")].some(e => e.textContent.includes("replayed"))`)
	c.Click("link", dead)
	c.WaitFor(`document.querySelector(".trace") === null`)
	c.is.Equal(c.at(), "deliveries/"+dead)
	c.Do(chromedp.NavigateBack())
	c.WaitFor(`document.querySelector(".trace a") !== null`)

	// It leads to the call that made it, to the conversation and to the contact; and back.
	request := eval[string](c.window, `[...document.querySelectorAll(".trace a")].find(a => a.textContent.startsWith("req_")).textContent`)
	c.Click("link", request)
	c.heading("POST /v1/" + number + "/messages")
	c.shoot("log-call")
	c.fits()
	c.Click("link", "Follow the message")
	c.heading("“Which one <i>would</i> you like?”")
	c.Click("link", "Ana Ruiz")
	c.is.True(strings.HasPrefix(c.at(), "contacts/ctc_"))

	// An event leads to its message; one that is about none says that there is nothing.
	var events struct{ Data []map[string]any }
	c.stage.list("/v1/events?type=message.status&limit=1", &events)
	c.goTo("trace/"+events.Data[0]["id"].(string), "“Which one <i>would</i> you like?”")
	c.goTo("trace/"+c.stage.app.DB.NewID(storage.PrefixMessage), "Trace")
	c.Find("heading", "Not found")
	c.goTo("log", "Log") // else it looks again when others come
	c.calm("status of 404")
}

// aTraceGrowsWhileItHappens lets the provider report nothing by itself any more.
func aTraceGrowsWhileItHappens(c *colleague, number string) {
	s := c.stage
	s.call("PATCH", s.simURL+"/_sim/settings", `{"delivered_ms":null,"read_ms":null,"auto_read":false}`)
	id := s.send(number, "+15550001111", `"type":"image","image":{"link":"https://shop.test/a.png"}`)
	m := s.await(number, id, isStatus("sent"))
	c.goTo("trace/"+id, "Image")
	c.traceHas("Sent to the provider, attempt 1")
	eval[any](c.window, `void (window.first = document.querySelector(".trace-step"))`)

	s.call("POST", s.simURL+"/_sim/messages/"+m["message_id"].(string)+"/status", `{"status":"delivered"}`)
	s.await(number, id, isStatus("delivered"))
	c.traceHas("Callback: delivered")
	c.WaitFor(`document.querySelector(".heading .chip").textContent === "delivered"`)
	c.is.True(eval[bool](c.window, `window.first === document.querySelector(".trace-step")`)) // existing steps stay
	c.calm()
}

// An event need not be about a message. It is shown all the same, with where it went.
func anEventAboutNoMessageIsShown(c *colleague, number string) {
	s := c.stage
	r := newReceiver(c.t, nil)
	id, _ := s.hook(r.URL, "contact.created")
	s.call("POST", s.app.URL()+"/v1/"+number+"/contacts", `{"phone_number":"+15550004711","name":`+quoted(markup)+`}`)
	r.next()
	c.goTo("webhooks/"+id, r.URL)
	c.Find("complementary", "Events")
	c.Click("link", "contact.created")
	c.heading("contact.created")
	c.is.True(strings.HasPrefix(c.at(), "trace/evt_"))
	c.row("contact.created", "delivered")
	c.text(`"phone_number": "+15550004711"`)
	c.text(strings.ReplaceAll(markup, `"`, `\"`))
	c.unharmed()
	c.shoot("event")
	c.fits()
	c.goTo("log", "Log")    // else it looks again when others come
	c.calm("status of 404") // of the trace, which it has none of
}

func aTraceNamesItsEndpoints(c *colleague, number string) {
	s := c.stage
	hook := newReceiver(c.t, func(http.ResponseWriter, *http.Request) {})
	named, _ := s.subscribe(hook.URL+"/orders", `"message.sent"`)
	s.call("PATCH", s.app.URL()+"/v1/webhook_subscriptions/"+named, `{"description":"Order service"}`)
	s.subscribe(hook.URL+"/crm", `"message.sent"`)
	paused, _ := s.subscribe(hook.URL+"/later", `"message.sent"`)
	s.call("PATCH", s.app.URL()+"/v1/webhook_subscriptions/"+paused, `{"status":"paused"}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
	s.await(number, id, isStatus("read"))

	c.goTo("trace/"+id, "“hi”")
	host := strings.TrimPrefix(hook.URL, "http://")
	c.traceHas("Order service", host+"/crm", host+"/later")
	c.fits()
	c.shoot("trace-endpoints")
	c.Click("link", "the webhook is paused")
	c.heading(hook.URL + "/later")

	// A delivery without attempts says why there are none.
	waiting := s.deliveries("status=pending")[0]["id"].(string)
	c.goTo("deliveries/"+waiting, "message.sent")
	c.text("No attempts yet: the webhook is paused.")
	c.shoot("delivery-untried")
	c.calm()
}

func aTraceOfABroadcastHasAllItsSteps(c *colleague, number string) {
	s := c.stage
	hook := newReceiver(c.t, func(http.ResponseWriter, *http.Request) {})
	s.subscribe(hook.URL, `"message.sent"`)
	s.atProvider(number, `{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Something is new here."}]}`)
	s.awaitApproval(number, "news")
	label := s.label("Regulars")
	person := s.contact(number, "+15550002222", "Bo Berg")
	s.call("POST", s.app.URL()+"/v1/"+number+"/contacts/"+person+"/labels", `{"label_id":"`+label+`"}`)
	made := s.call("POST", s.app.URL()+"/v1/"+number+"/broadcasts",
		`{"name":"News","template":{"name":"news","language":"en"},"audience":{"label_id":"`+label+`"}}`)
	var sent struct {
		Data []struct {
			MessageID string `json:"message_id"`
		}
	}
	until(func() bool {
		s.read("/"+number+"/broadcasts/"+made["id"].(string)+"/recipients?status=read", &sent)
		return len(sent.Data) == 1
	})

	c.goTo("trace/"+sent.Data[0].MessageID, "“Something is new here.”")
	c.traceHas("Stored, queued by a broadcast", "Sent to the provider, attempt 1", "Event message.sent", "Callback: sent", "Callback: delivered", "Callback: read",
		strings.TrimPrefix(hook.URL, "http://"))
	var events struct{ Data []map[string]any }
	s.list("/v1/events?type=message.sent&limit=1", &events)
	c.goTo("log", "Log")
	c.goTo("trace/"+events.Data[0]["id"].(string), "“Something is new here.”")
	c.calm()
}

func aTraceOfSomebodyWithALongNameFits(c *colleague, number string) {
	s := c.stage
	s.contact(number, "+15550006666", strings.Repeat("x", 190))
	s.heard(number, `"from":"15550006666","type":"text","text":{"body":"hi"}`)
	id := s.send(number, "+15550006666", `"type":"text","text":{"body":"Hello"}`)
	c.goTo("trace/"+id, "“Hello”")
	c.shows(strings.Repeat("x", 190))
	c.fits()
	c.calm()
}
