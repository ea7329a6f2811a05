package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// written is the text in the composer.
func (c *colleague) written(text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`document.querySelector("textarea").value === %q`, text))
}

// outbound lists what the API has of the messages that were sent in a conversation, the newest first.
func (s *stage) outbound(number, conversation string) []map[string]any {
	s.t.Helper()
	var got struct{ Data []map[string]any }
	s.read("/"+number+"/messages?direction=outbound&limit=100&conversation_id="+conversation, &got)
	return got.Data
}

// What a person can do with the composer, one after the other in one window.
func TestMessagesAreWritten(t *testing.T) {
	parallelBrowser(t)
	c := newDesk(t, storage.RoleAgent)
	c.mayBeginWithASlash()
	c.sendsButtonsAndLists()
	c.asksForANumber()
	c.insertsQuickRepliesAndEmoji()
	c.sendsLaterOrNotAtAll()
	c.sendsAgainWhatFailed()
	c.attachesAndPastesFiles()
	c.answersByID()
	c.outlivesAnAnswerThatIsCutOff()
	c.calm("status of 404")
	c.dropsFiles()
	c.calm("status of 4")
	c.forget()
	c.typesNoShortcut()
	c.calm("status of 404")
}

// quickReply makes a quick reply, which a function that it returns deletes.
func (s *stage) quickReply(body string) func() {
	s.t.Helper()
	id := s.call("POST", s.app.URL()+"/v1/quick_replies", body)["id"].(string)
	return func() { s.exchange("DELETE", s.app.URL()+"/v1/quick_replies/"+id, "") }
}

func (c *desk) insertsQuickRepliesAndEmoji() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001114", "Ana Ruiz", textOf("hi"))
	for i, text := range append(slices.Clone(hostileTexts), "Hello {{name}}, how can we help?") {
		body, err := json.Marshal(map[string]any{"shortcut": fmt.Sprint("q", i), "text": text})
		if err != nil {
			c.t.Fatal(err)
		}
		s.call("POST", s.app.URL()+"/v1/quick_replies", string(body))
	}
	c.Focus("textbox", "Message")
	c.Press("/")
	c.Find("listbox", "Quick replies")
	c.WaitFor(fmt.Sprintf(`document.querySelectorAll("[role=option]").length === %d`, len(hostileTexts)+1))
	c.unharmed()
	c.shoot("inbox-quick-replies")
	c.Press(kb.Escape)
	c.Gone("listbox", "Quick replies")
	c.written("/")
	c.Press("h", "e", "l", "p")
	c.WaitFor(`document.querySelectorAll("[role=option]").length === 1`)
	c.Press(kb.Enter)
	c.written("Hello Ana Ruiz, how can we help?")
	c.Gone("listbox", "Quick replies")
	c.Click("button", "Quick replies")
	c.Find("listbox", "Quick replies")
	c.Press(kb.Escape)
	c.Click("button", "Emoji")
	c.Find("dialog", "Emoji")
	c.shoot("inbox-emoji")
	c.Press(kb.Escape)
	c.Gone("dialog", "Emoji")
	c.is.Equal(eval[string](c.window, `document.activeElement.textContent`), "Emoji")
	c.Click("button", "Emoji")
	c.Focus("searchbox", "Search emoji")
	c.Press("t", "a", "d", "a")
	c.WaitFor(`document.querySelectorAll(".emoji button").length === 1`)
	c.Press(kb.Enter)
	c.written("Hello Ana Ruiz, how can we help?🎉")
	c.is.Equal(len(s.outbound(number, conversation)), 0) // nothing goes by itself
	c.Press(kb.Enter)
	c.state("how can we help?🎉", "read")
}

func (c *desk) sendsLaterOrNotAtAll() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001115", "Bo Berg", textOf("hi"))
	c.Click("button", "Send later")
	c.is.True(eval[bool](c.window, `document.querySelector("dialog[open]") === null`)) // there is nothing to send
	c.Fill("textbox", "Message", "Good morning")
	c.Click("button", "Send later")
	c.Find("dialog", "Send later")
	c.shoot("inbox-later")
	eval[any](c.window, `void (document.querySelector("#send-at").value = "2020-01-01T09:00")`)
	c.Click("button", "Schedule")
	c.shows("Choose a time within the next 90 days.")
	c.Click("button", "Tomorrow at 9")
	c.state("Good morning", "scheduled")
	c.written("")
	s.becomesTrue(func() bool { return len(s.outbound(number, conversation)) == 1 })
	c.is.True(s.outbound(number, conversation)[0]["scheduled_at"] != nil)
	c.shoot("inbox-scheduled")

	// A message that came meanwhile is shown before it.
	s.says(number, "15550001115", "Bo Berg", textOf("are you there?"))
	c.article("are you there?")
	c.WaitFor(`[...document.querySelectorAll("article")].at(-1).textContent.includes("Good morning")`)
	c.isTaken("Good morning")
	c.onArticle("Good morning", "More")
	c.Click("menuitem", "Cancel sending")
	c.article("Not sent: it was cancelled (message_cancelled)")
	s.becomesTrue(func() bool { return s.outbound(number, conversation)[0]["status"] == "failed" })
}

// "Send again" sends a new message, once, as the first was: with its file, too.
func (c *desk) sendsAgainWhatFailed() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001116", "Cleo", textOf("hi"))
	again := func(text, kind string) {
		c.t.Helper()
		c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("article.failed")].at(-1)?.textContent.includes(%q)`, text))
		c.article("(131026)")
		before := len(s.outbound(number, conversation))
		eval[any](c.window, `void [...document.querySelectorAll("article.failed button")].filter(b => b.textContent === "Send again").at(-1).click()`)
		c.WaitFor(fmt.Sprintf(`(a => a.textContent.includes(%q) && a.querySelector(".tick .unseen")?.textContent === "read")([...document.querySelectorAll("article")].at(-1))`, text))
		all := s.outbound(number, conversation)
		c.is.Equal(len(all), before+1)
		c.is.Equal(all[0]["status"], "read")
		c.is.Equal(all[0]["type"], kind)
		c.is.Equal(all[1]["status"], "failed")
	}
	s.fault(`{"kind":"error_code","code":131026,"async":true,"times":1,"to":"15550001116"}`) // and not to the receipt
	c.Fill("textbox", "Message", "Is it urgent?")
	c.Press(kb.Enter)
	c.state("Is it urgent?", "failed")
	c.shoot("inbox-send-again")
	again("Is it urgent?", "text")

	s.fault(`{"kind":"error_code","code":131026,"async":true,"times":1,"to":"15550001116"}`) // and not to the receipt
	picture, _ := base64.StdEncoding.DecodeString(dot)
	path := filepath.Join(c.t.TempDir(), "vase.png")
	c.is.NoErr(os.WriteFile(path, picture, 0o600))
	c.Upload(".attachments input", path)
	c.WaitFor(`document.querySelector(".attachment small") !== null`)
	c.Fill("textbox", "Message", "This one?")
	c.Press(kb.Enter)
	again("This one?", "image")
}

func (c *desk) attachesAndPastesFiles() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001117", "Dan", textOf("hi"))
	picture, _ := base64.StdEncoding.DecodeString(dot)
	path := filepath.Join(c.t.TempDir(), "vase.png")
	c.is.NoErr(os.WriteFile(path, picture, 0o600))
	c.Upload(".attachments input", path)
	c.Find("group", "Files to send")
	c.WaitFor(`document.querySelector(".attachment small") !== null`)
	c.Fill("textbox", "Message", "This one?")
	c.shoot("inbox-attachment")
	c.Click("button", "Send")
	c.article("This one?")
	c.state("This one?", "read")

	// Pasting is as good.
	eval[any](c.window, `void (() => { const d = new DataTransfer(); d.items.add(new File(["one,two"], "list <b>.csv", { type: "text/csv" })); document.querySelector("textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true })) })()`)
	c.Find("button", "Remove list <b>.csv")
	c.WaitFor(`document.querySelector(".attachment small") !== null`)
	c.Click("button", "Send")
	c.article("list <b>.csv")
	var sent struct {
		Data []struct {
			Type     string
			Image    struct{ Caption string }
			Document struct{ Filename string }
		}
	}
	until(func() bool {
		s.read("/"+number+"/messages?direction=outbound&conversation_id="+conversation, &sent)
		return len(sent.Data) == 2
	})
	c.is.Equal(len(sent.Data), 2)
	c.is.Equal(sent.Data[0].Document.Filename, "list <b>.csv")
	c.is.Equal(sent.Data[1].Image.Caption, "This one?")
}

// Who hides the number is answered by an id, which the conversation has: the answer may be
// written before the first message is here.
func (c *desk) answersByID() {
	s, number := c.stage, c.number
	ids := map[string]string{"Zoe": "US.77", "Max": "US.ENT.9"}
	eval[any](c.window, `void ((real) => {
		const released = new Promise((resolve) => (globalThis.release = resolve));
		globalThis.fetch = async (url, options) => {
			if (/\/messages\?/.test(url)) await released;
			return real(url, options);
		};
	})(fetch)`)
	conversations := make(map[string]string)
	for name, id := range ids {
		conversations[name] = s.says(number, "", name, `"bsuid":"`+id+`",`+textOf("hi"))
		c.openConversation(name)
		c.Fill("textbox", "Message", "Hello "+name)
		c.Press(kb.Enter)
	}
	eval[any](c.window, `void release()`)
	for name, id := range ids {
		c.openConversation(name)
		c.state("Hello "+name, "read")
		sent := s.outbound(number, conversations[name])
		c.is.Equal(len(sent), 1)
		c.is.Equal(sent[0]["to"], nil)
		c.is.True(sent[0]["bsuid"] == id || sent[0]["parent_bsuid"] == id)
	}
}

// An answer that is cut off on its way is no refusal: the message is asked for again by its
// key, and was sent once.
func (c *desk) outlivesAnAnswerThatIsCutOff() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001118", "Eva", textOf("hi"))
	eval[any](c.window, `void ((real) => {
		globalThis.fetch = async (url, options) => {
			const response = await real(url, options);
			if (globalThis.cut || options?.method !== "POST" || !/\/messages$/.test(url)) return response;
			globalThis.cut = true;
			return new Response((await response.text()).slice(0, 20), response);
		};
	})(fetch)`)
	c.Fill("textbox", "Message", "Only once")
	c.Press(kb.Enter)
	c.WaitFor(`globalThis.cut === true`)
	c.WaitFor(`document.querySelectorAll("[id^=outbox]").length === 0`)
	c.state("Only once", "read")
	c.is.Equal(len(s.outbound(number, conversation)), 1)
	c.is.True(!eval[bool](c.window, `document.body.innerText.includes("Not sent")`))
}

func (c *desk) dropsFiles() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001119", "Finn", textOf("hi"))
	drag := func(kind string) {
		c.t.Helper()
		eval[any](c.window, fmt.Sprintf(`void (() => {
			const d = new DataTransfer();
			["one.csv", "two.csv"].forEach(name => d.items.add(new File(["a,b"], name, { type: "text/csv" })));
			document.querySelector("[role=log]").dispatchEvent(new DragEvent(%q, { dataTransfer: d, bubbles: true, cancelable: true }));
		})()`, kind))
	}
	drag("dragover")
	c.WaitFor(`document.querySelector(".thread.dropping") !== null`)
	c.shoot("inbox-drop")
	drag("dragleave")
	c.WaitFor(`document.querySelector(".thread.dropping") === null`)
	drag("drop")
	c.Find("group", "Files to send")
	c.Find("button", "Remove one.csv")
	c.Click("button", "Remove two.csv")
	c.Gone("button", "Remove two.csv")
	c.WaitFor(`document.querySelector(".attachment small") !== null`)
	c.Focus("textbox", "Message")
	c.Press(kb.Enter)
	c.article("one.csv")
	c.Gone("group", "Files to send")
	s.becomesTrue(func() bool { return len(s.outbound(number, conversation)) == 1 })

	// A file that the server refuses says so, and does not go.
	eval[any](c.window, `void (() => { const d = new DataTransfer(); d.items.add(new File([], "empty.csv", { type: "text/csv" })); document.querySelector("[role=log]").dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true })) })()`)
	c.Find("alert", "")
	c.Find("button", "Try again")
	c.Focus("textbox", "Message")
	c.Press(kb.Enter)
	c.Find("button", "Remove empty.csv")
	c.shoot("inbox-upload-failed")
}

// Single keys do nothing while somebody types or chooses, in a dialog, or with another key.
func (c *desk) typesNoShortcut() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001120", "Gil", textOf("hi"))
	for _, field := range [][2]string{{"textbox", "Message"}, {"searchbox", "Search messages"}, {"textbox", "Name"}, {"textbox", "Email"}, {"combobox", "Assignee"}, {"combobox", "Filter by label"}} {
		c.Focus(field[0], field[1])
		c.Press("e", "u", "j", "?", "l")
	}
	eval[any](c.window, `void document.activeElement?.blur()`)
	for _, modifier := range []chromedp.Modifier{chromedp.ModifierCtrl, chromedp.ModifierAlt, chromedp.ModifierMeta} {
		c.Do(chromedp.KeyEvent("e", chromedp.KeyModifiers(modifier)))
	}
	c.Press("?")
	c.Find("dialog", "Keyboard shortcuts")
	c.Press("e", kb.Escape)
	c.Gone("dialog", "Keyboard shortcuts")
	c.Find("button", "Resolve")
	c.is.Equal(s.conversation(number, conversation)["status"], "open")
	c.is.Equal(s.conversation(number, conversation)["unread_count"], 0.0)
}

// What begins with a / and goes on with other words is a message like any other.
func (c *desk) mayBeginWithASlash() {
	s := c.stage
	c.meets("15550001111", "A$$AP $& Rocky", textOf("hi"))
	defer s.quickReply(`{"shortcut":"start","text":"Hi {{name}}, how are you?"}`)()
	c.Focus("textbox", "Message")
	c.Press("/start")
	c.Find("listbox", "Quick replies")
	c.Press(" does not work")
	c.Gone("listbox", "Quick replies")
	c.Press(kb.Enter)
	c.state("/start does not work", "read")

	// A quick reply is inserted beside the text, with the name as it is.
	c.Fill("textbox", "Message", "/etc/hosts, see: ")
	c.Click("button", "Quick replies")
	c.Click("option", "/start Hi {{name}}, how are you?")
	c.written("/etc/hosts, see: Hi A$$AP $& Rocky, how are you?")
}
