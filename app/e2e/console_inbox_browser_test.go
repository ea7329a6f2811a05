package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// says lets somebody write to a number, and returns the conversation.
func (s *stage) says(number, from, name, content string) string {
	s.t.Helper()
	given, _ := json.Marshal(name)
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"`+from+`","name":`+string(given)+`,`+content+`}`)
	e := s.awaitEvent("message.received", byID(wamid))
	var reported struct {
		Svc struct {
			ConversationID string `json:"conversation_id"`
		}
	}
	if err := json.Unmarshal(e.Payload, &reported); err != nil {
		s.t.Fatal(err)
	}
	return reported.Svc.ConversationID
}

// textOf is the content of a text message.
func textOf(body string) string {
	text, _ := json.Marshal(body)
	return `"type":"text","text":{"body":` + string(text) + `}`
}

// conversation is what the API has of a conversation.
func (s *stage) conversation(number, id string) map[string]any {
	s.t.Helper()
	return s.call("GET", s.app.URL()+"/v1/"+number+"/conversations/"+id, "")
}

// showsRows waits until the list has these names.
func (c *colleague) showsRows(names ...string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("[aria-label=Conversations] a")].map(a => a.textContent)) === JSON.stringify(%s)`, jsStrings(names)))
}

// article waits for a message with a text in it.
func (c *colleague) article(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("[role=log] article")].some(a => a.textContent.includes(%q))`, text))
}

// state waits until a message with a text is in a state, as those hear it who see no ticks.
func (c *colleague) state(text, state string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("[role=log] article")].some(a => a.textContent.includes(%q) && a.querySelector(".tick .unseen")?.textContent === %q)`, text, state))
}

// isTaken waits until the window knows that the server took a message, which it may have done for a while:
// until then nothing can be done with it.
func (c *colleague) isTaken(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("article[id^=msg_]")].some(a => a.textContent.includes(%q))`, text))
}

// onArticle presses a button of the message with a text.
func (c *colleague) onArticle(text, button string) {
	c.t.Helper()
	c.article(text)
	eval[any](c.window, fmt.Sprintf(`void [...[...document.querySelectorAll("article")].find(a => a.textContent.includes(%q)).querySelectorAll("button")].find(b => b.textContent === %q).click()`, text, button))
}

// openConversation opens a conversation of the list.
func (c *colleague) openConversation(name string) {
	c.t.Helper()
	c.Click("link", name)
	c.Find("region", "Conversation with "+name)
	c.WaitFor(`document.querySelector("textarea[aria-label=Message]") !== null`)
}

// offline takes the network away, or gives it back.
func (c *colleague) offline(yes bool) {
	c.t.Helper()
	c.Do(command(cdpnetwork.OverrideNetworkState, cdpnetwork.OverrideNetworkStateParams{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}),
		command(cdpnetwork.EmulateNetworkConditionsByRule, cdpnetwork.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*cdpnetwork.Conditions{{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}},
		}))
	if yes { // the browser answers before its network knows
		eval[any](c.window, `(async () => { for (;;) try { await fetch(location.href, { cache: "no-store" }); } catch { return; } })()`)
	}
}

func TestAPersonIsAnsweredLabelledAndResolved(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.call("POST", s.app.URL()+"/v1/labels", `{"name":"VIP","color":"violet"}`)
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("Do you have it in blue?"))
	s.says(number, "15550002222", "", textOf("Hello"))
	c := s.console(t, storage.RoleAgent)
	c.showsRows("+15550002222", "Ana Ruiz")
	c.Find("tablist", "Inbox")
	c.is.Equal(c.All("tab"), []string{"Open", "Mine", "Unassigned", "Waiting", "Mentions", "Unread", "Snoozed", "Resolved", "All"})
	c.WaitFor(`document.title === "(2) Inbox · confab"`)
	c.is.Equal(c.Describe("tab", "Unread").Description, "2")
	c.Find("combobox", "Filter by label")
	c.Find("searchbox", "Search messages")
	c.Find("list", "Conversations")
	c.shoot("inbox-list")

	// Opening marks it as read, here and for the person.
	c.openConversation("Ana Ruiz")
	c.Find("log", "Messages")
	c.article("Do you have it in blue?")
	c.WaitFor(`document.querySelector(".unread-line") !== null`)
	until(func() bool { return s.conversation(number, ana)["unread_count"] == 0.0 })
	c.is.Equal(s.conversation(number, ana)["unread_count"], 0.0)
	c.WaitFor(`document.title.endsWith("Ana Ruiz · confab")`)
	for _, name := range []string{"Send", "Attach file", "Quick replies", "Templates", "Emoji"} {
		c.Find("button", name)
	}

	// Enter sends, Shift-Enter breaks the line.
	c.Focus("textbox", "Message")
	c.Press("Yes!")
	c.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)))
	c.Press("And in sand.", kb.Enter)
	c.article("Yes!\nAnd in sand.")
	c.WaitFor(`document.querySelector("textarea").value === ""`)
	c.article("Mira Kovač") // who of the team sent it
	c.WaitFor(`document.querySelectorAll("[id^=outbox]").length === 0`)
	c.labelsAndResolves()

	got := s.conversation(number, ana)
	c.is.Equal(got["status"], "open")
	c.is.Equal(got["assignee"].(map[string]any)["name"], "Mira Kovač")
	c.is.Equal(got["labels"].([]any)[0].(map[string]any)["name"], "VIP")

	// Every filter has an address.
	c.is.True(strings.HasSuffix(c.at(), "?tab=mine"))
	c.Do(chromedp.Reload())
	c.Find("region", "Conversation with Ana Ruiz")
	c.showsRows("Ana Ruiz")
	c.is.Equal(c.Describe("tab", "Mine").Properties["selected"], "true")
	c.Do(chromedp.NavigateBack())
	c.is.True(strings.HasSuffix(c.at(), "?tab=resolved"))
	c.showsRows() // she is open again
	c.fits()
	c.calm("status of 404")
	c.keepsWhatIsNotSent(number)
	c.calm("ERR_INTERNET_DISCONNECTED", "status of 404")
}

// labelsAndResolves takes the conversation over, labels it, writes down an address, resolves it and opens it again.
func (c *colleague) labelsAndResolves() {
	c.Find("complementary", "Details")
	c.Click("button", "Assign to me")
	c.Gone("button", "Assign to me")
	c.is.Equal(c.Describe("combobox", "Assignee").Value, "Mira Kovač")
	c.Click("button", "Add label")
	c.Find("group", "Labels")
	c.Click("checkbox", "VIP")
	c.Find("button", "Remove label VIP")
	c.Fill("textbox", "Email", "ana@example.com")
	c.Click("button", "Save")
	c.toast("Saved")
	c.shoot("inbox-thread")
	c.Click("button", "Resolve")
	c.Find("region", "Conversation with +15550002222") // the next one
	c.showsRows("+15550002222")
	c.Click("tab", "Resolved")
	c.showsRows("Ana Ruiz")
	c.openConversation("Ana Ruiz")
	c.Click("button", "Reopen")
	c.Find("button", "Resolve")
	c.Click("tab", "Mine")
	c.showsRows("Ana Ruiz")
}

// A draft and what was sent offline are kept, also when the page is loaded anew.
func (c *colleague) keepsWhatIsNotSent(number string) {
	s := c.stage
	conversation := s.says(number, "15550003333", "Cleo", textOf("hi"))
	s.says(number, "15550004444", "Dan", textOf("hello"))
	c.openAddress("inbox")
	c.openConversation("Cleo")
	c.Fill("textbox", "Message", "Half a sente")
	c.openConversation("Dan")
	c.WaitFor(`document.querySelector("textarea").value === ""`)
	c.openConversation("Cleo")
	c.WaitFor(`document.querySelector("textarea").value === "Half a sente"`)
	c.Do(chromedp.Reload())
	c.Find("textbox", "Message")
	c.WaitFor(`document.querySelector("textarea").value === "Half a sente"`)

	c.offline(true)
	c.Fill("textbox", "Message", "Sent in a tunnel")
	c.Press(kb.Enter)
	c.state("Sent in a tunnel", "queued")
	c.WaitFor(`document.querySelector(".connection").textContent.includes("your text is safe")`)
	c.shoot("inbox-offline")
	c.offline(false)
	c.Do(chromedp.Reload())
	c.Find("textbox", "Message")
	c.article("Sent in a tunnel")
	c.WaitFor(`document.querySelectorAll("[id^=outbox]").length === 0`)

	var sent struct{ Data []map[string]any }
	s.read("/"+number+"/messages?direction=outbound&conversation_id="+conversation, &sent)
	c.is.Equal(len(sent.Data), 1) // once
	c.is.Equal(eval[int](c.window, `Object.keys(localStorage).filter(k => k.includes("outbox") || k.includes("draft")).length`), 0)
}

func TestTheInboxIsUsedWithoutAMouse(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.call("POST", s.app.URL()+"/v1/labels", `{"name":"VIP"}`)
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	c := s.console(t, storage.RoleAgent)
	c.showsRows("Bo Berg", "Ana Ruiz")
	c.Press("j")
	c.focused("Bo Berg")
	c.Press("j")
	c.focused("Ana Ruiz")
	c.Press("k", "j", kb.Enter)
	c.Find("region", "Conversation with Ana Ruiz")
	c.WaitFor(`document.querySelector(".row.current") !== null && document.querySelector(".row.current b.count") === null`)
	c.Press("u")
	until(func() bool { return s.conversation(number, ana)["unread_count"] == 1.0 })
	c.WaitFor(`document.querySelector(".row.current b.count") !== null`)
	c.is.Equal(s.conversation(number, ana)["unread_count"], 1.0) // and stays so while it is open
	c.Click("button", "More actions")
	c.Click("menuitemcheckbox", "Go on to the next") // it stays where it is from now on
	c.Press("e")
	c.Find("button", "Reopen")
	c.Press("o")
	c.Find("button", "Resolve")

	// No key chooses anybody unless the list of people is open, and Esc leads back.
	eval[any](c.window, `void document.querySelector("[aria-current=true]").focus()`)
	c.Press("a")
	c.Find("dialog", "Assign")
	c.WaitFor(`document.activeElement.ariaLabel === "Search people"`)
	c.shoot("inbox-assign")
	c.Press(kb.Escape)
	c.Gone("dialog", "Assign")
	c.focused("Ana Ruiz")
	c.Press("m", "y")
	c.is.Equal(s.conversation(number, ana)["assignee"], nil)
	c.Press("a")
	c.Find("dialog", "Assign")
	c.Press("mir", kb.Enter)
	c.WaitFor(`document.querySelector("#assignee").textContent.includes("Mira Kovač")`)
	c.focused("Ana Ruiz")
	c.Press("l") // lands on the first label
	c.WaitFor(`document.activeElement.type === "checkbox" && document.activeElement.labels[0].textContent === "VIP"`)
	c.Press("e", " ", kb.Escape)
	c.Find("button", "Remove label VIP")
	c.focused("Ana Ruiz")
	c.is.Equal(s.conversation(number, ana)["status"], "open")
	c.writesWithoutAMouse()
	c.calm("status of 404")
	c.showsOnePaneAtATime(number)
	c.calm("status of 404")
}

// focused waits until what has the focus is called so.
func (c *colleague) focused(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.activeElement.textContent === %q`, text))
}

// writesWithoutAMouse: the composer is near, and takes letters that are keys elsewhere.
func (c *colleague) writesWithoutAMouse() {
	for tabs := 0; !eval[bool](c.window, `document.activeElement.ariaLabel === "Message"`); tabs++ {
		c.is.True(tabs < 10) // to the composer
		c.Press(kb.Tab)
	}
	c.Press(kb.Escape)
	c.Focus("log", "Messages")
	c.Press(kb.ArrowUp, kb.Tab)
	c.focused("Reply") // of the last message
	c.Press(kb.Tab, kb.Tab, kb.Tab)
	c.WaitFor(`document.activeElement.ariaLabel === "Message"`)
	c.Press(kb.Escape)
	c.Press("r")
	c.WaitFor(`document.activeElement.ariaLabel === "Message"`)
	c.Press("e", "j", "?", "/x") // letters, while somebody types
	c.WaitFor(`document.querySelector("textarea").value === "ej?/x"`)
	c.Find("button", "Resolve")
	c.Press(kb.Escape, "/")
	c.WaitFor(`document.activeElement.ariaLabel === "Search messages"`)
	eval[any](c.window, `document.activeElement?.blur()`)
	c.Press("?")
	c.Find("dialog", "Keyboard shortcuts")
	for _, name := range []string{"Next conversation", "Open conversation", "Reply", "Resolve", "Reopen", "Assign", "Label", "Mark unread", "Select", "Send and resolve", "Search messages"} {
		c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("dialog dt")].some(d => d.textContent === %q)`, name))
	}
	c.shoot("inbox-keys")
}

// A small screen shows one pane at a time.
func (c *colleague) showsOnePaneAtATime(number string) {
	s := c.stage
	s.says(number, "15550003333", "Cleo", textOf(strings.Repeat("a long word ", 30)+strings.Repeat("x", 300)))
	c.Press(kb.Escape)
	c.openAddress("inbox")
	c.Do(chromedp.EmulateViewport(320, 640), c.Prefers("prefers-reduced-motion", "reduce"))
	c.Gone("region", "Conversation with Cleo")
	c.Click("link", "Cleo")
	c.Find("textbox", "Message")
	c.Gone("list", "Conversations")
	c.Gone("complementary", "Details")
	wide := `document.documentElement.scrollWidth > 320 || document.querySelector("main").scrollWidth > 320 || [...document.querySelectorAll(".inbox *")].some(e => e.getBoundingClientRect().right > 321 && getComputedStyle(e).visibility !== "hidden" && !e.closest(".tabs, .unseen, .inbox-head"))`
	c.is.True(!eval[bool](c.window, wide))
	c.Click("button", "Details")
	c.Find("complementary", "Details")
	c.is.True(!eval[bool](c.window, wide))
	c.Click("button", "Close details")
	c.Click("link", "Back")
	c.Find("list", "Conversations")
	c.is.True(!eval[bool](c.window, wide))
}

func TestALinkLeadsToAConversationOfAnotherNumber(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	numbers := []string{s.connect(), s.connect()}
	ids := []string{s.says(numbers[0], "15550001111", "Ana Ruiz", textOf("hi")), s.says(numbers[1], "15550002222", "Bo Berg", textOf("hello"))}
	c := s.signedIn(t, "Mira Kovač", "agent@example.com", storage.RoleAgent)
	for i, name := range []string{"Ana Ruiz", "Bo Berg"} {
		c.Visit(s.app.URL() + "/console/inbox/" + ids[i])
		c.Find("region", "Conversation with "+name)
		c.WaitFor(`document.querySelector("#number select").value === "` + numbers[i] + `"`)
		c.showsRows(name)
	}

	// Who opens another one before the number was found stays there.
	hold := func(path string) {
		eval[any](c.window, `void ((real) => {
			globalThis.fetch = async (url, options) => {
				const answer = await real(url, options);
				if (String(url).endsWith("`+path+`")) await new Promise((done) => (globalThis.release = done));
				return answer;
			};
		})(fetch)`)
	}
	hold(numbers[0] + "/conversations/" + ids[0])
	eval[any](c.window, `void (globalThis.chosen = [], ((real) => {
		Storage.prototype.setItem = function (key, value) {
			if (key === "confab.number") chosen.push(value);
			real.call(this, key, value);
		};
	})(Storage.prototype.setItem))`)
	c.openAddress("inbox/" + ids[0])
	c.WaitFor(`globalThis.release !== undefined`)
	c.openAddress("inbox/" + ids[1])
	c.Find("region", "Conversation with Bo Berg")
	eval[any](c.window, `void release()`)
	s.says(numbers[1], "15550002222", "Bo Berg", textOf("still here?"))
	c.article("still here?")
	c.is.Equal(eval[[]string](c.window, `chosen`), []string{})

	// Who chooses another number leaves the conversation.
	eval[any](c.window, `void (e => { e.value = "`+numbers[0]+`"; e.dispatchEvent(new Event("change")) })(document.querySelector("#number select"))`)
	c.showsRows("Ana Ruiz")
	c.WaitFor(`location.pathname === "/console/inbox"`)

	// A view may be of one number.
	view := s.call("POST", s.app.URL()+"/v1/views", `{"name":"Hers","shared":true,"phone_number_id":"`+numbers[1]+`","filter":{"waiting":true}}`)["id"].(string)
	c.Gone("tab", "Hers")
	c.Visit(s.app.URL() + "/console/inbox?view=" + view)
	c.showsRows("Bo Berg")
	c.Find("tab", "Hers")
	eval[any](c.window, `void (e => { e.value = "`+numbers[0]+`"; e.dispatchEvent(new Event("change")) })(document.querySelector("#number select"))`)
	c.showsRows("Ana Ruiz")
	c.WaitFor(`location.search === ""`)
	c.calm("status of 404")

	// The inbox is of one number; that somebody waits at another is said, and leads there.
	other := eval[string](c.window, `document.querySelector("#number option[value='`+numbers[1]+`']").textContent`)
	c.Find("button", "1 waiting at "+other)
	c.shoot("waiting-elsewhere")
	c.Click("button", "1 waiting at "+other)
	c.showsRows("Bo Berg")
	c.WaitFor(`location.search === "?tab=waiting"`)
	c.choose("Number", numbers[0])
	c.showsRows("Ana Ruiz")

	// What was asked for at one number stays out of the list of the next.
	eval[any](c.window, `void (globalThis.release = undefined)`)
	hold(numbers[0] + "/conversations/" + ids[0])
	s.says(numbers[0], "15550001111", "Ana Ruiz", textOf("again"))
	c.WaitFor(`globalThis.release !== undefined`)
	c.choose("Number", numbers[1])
	c.showsRows("Bo Berg")
	eval[any](c.window, `void release()`)
	s.says(numbers[1], "15550002222", "Bo Berg", textOf("and now?"))
	c.rowSays("Bo Berg", "and now?")
	c.showsRows("Bo Berg")
	c.choose("Number", numbers[0])
	c.showsRows("Ana Ruiz")

	// What one number may not send says nothing of another, not even until the server has answered.
	s.restrict(numbers[0], true)
	c.WaitFor(`document.querySelector(".list-pane .notice")?.textContent.includes("The provider has restricted it.")`)
	eval[any](c.window, `void ((real) => {
		globalThis.fetch = (url, options) => (/\/sending$/.test(url) ? new Promise(() => {}) : real(url, options));
	})(fetch)`)
	c.choose("Number", numbers[1])
	c.WaitFor(`document.querySelector(".list-pane .notice") === null`)
	c.calm("status of 404")
}
