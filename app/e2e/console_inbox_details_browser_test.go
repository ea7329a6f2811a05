package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestDetailsShowFilesBroadcastsAndWhereToGoOn(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.invitePerson("bo@example.com", storage.RoleAgent)
	s.says(number, "15550001111", "Ana Ruiz", `"type":"image","image":{"data":"`+dot+`","mime_type":"image/png"}`)
	s.says(number, "15550001111", "Ana Ruiz", `"type":"document","document":{"data":"`+base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 x"))+`","mime_type":"application/pdf","filename":"invoice `+strings.ReplaceAll(markup, `"`, `'`)+`.pdf"}`)
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("there you are"))
	s.send(number, "+15550001111", `"type":"image","image":{"link":"https://example.com/vase.jpg"}`) // which is no file of ours
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		c, err := tx.Conversation(account.ID, ana)
		if err != nil {
			return err
		}
		return tx.InsertMessage(&storage.Message{
			AccountID: c.AccountID, ConversationID: c.ID, ContactID: c.ContactID, Direction: storage.Outbound, Type: "template", Status: storage.MessageRead,
			Source: storage.SourceBroadcast, Content: storage.JSON(`{"name":"spring_sale","language":{"code":"en_US"}}`),
		})
	})
	c := s.console(t, storage.RoleAdmin)
	c.openConversation("Ana Ruiz")
	c.Find("heading", "Shared files")
	c.WaitFor(`document.querySelectorAll(".shared a[download][href*='/media/']").length === 1`)
	c.WaitFor(`document.querySelector(".shared img").naturalWidth === 1`)
	for _, request := range c.Requests() {
		c.is.True(!strings.Contains(request, "undefined"))
	}
	c.Find("heading", "Earlier broadcasts")
	c.shows("spring_sale")
	c.shoot("inbox-details")
	c.Click("button", "Show Photo")
	c.Find("dialog", "Picture") // and no other tab
	c.Press(kb.Escape)

	// To somebody else, and to no one.
	c.Click("combobox", "Assignee")
	c.Find("dialog", "Assign")
	c.Press("bo@", kb.Enter)
	s.becomesTrue(func() bool { return s.conversation(number, ana)["assignee"] != nil })
	c.Find("image", "Assigned to Ada") // which the browser learns a moment later
	c.Click("combobox", "Assignee")
	c.Click("option", "Nobody")
	s.becomesTrue(func() bool { return s.conversation(number, ana)["assignee"] == nil })

	c.Click("link", "Trace the last message")
	c.heading("Image") // the campaign is not what was said last
	eval[any](c.window, `void history.back()`)
	c.Find("region", "Conversation with Ana Ruiz") // the trace leads to her too
	c.Find("heading", "Earlier broadcasts")        // nothing moves any more
	c.WaitFor(`document.querySelectorAll(".shared :is(a, button)").length === 2`)
	c.Click("link", "Open contact")
	c.heading("Ana Ruiz")
	c.WaitFor(`document.querySelectorAll("main a[href*='/media/']").length === 2`) // her page has them too
	c.shoot("contact-files")
	c.Click("link", "Open conversation")
	c.Find("region", "Conversation with Ana Ruiz")
	c.calm("status of 404")
}

// Who needs a label that is not there yet makes it there, and the conversation has it.
func TestALabelIsMadeWhereItIsNeeded(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAdmin)
	c.openConversation("Ana Ruiz")
	c.Click("button", "Add label")
	c.Find("group", "Labels")
	c.shows("No labels yet.")
	c.Click("button", "New label")
	c.Find("dialog", "New label")
	c.Click("button", "Cancel")
	c.Gone("dialog", "New label")
	c.Click("button", "New label")
	c.Find("dialog", "New label")
	c.Fill("textbox", "Name", "VIP")
	c.Click("button", "Create label")
	c.Find("button", "Remove label VIP")
	c.is.Equal(c.Find("checkbox", "VIP").Properties["checked"], "true")
	s.becomesTrue(func() bool { return len(s.conversation(number, ana)["labels"].([]any)) == 1 })
	c.calm()
}

// Where the unread begin is in sight, also when they are more than the screen holds.
func TestTheLineBeforeTheUnreadIsInSight(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.article("hi")
	c.Click("link", "Contacts")
	c.heading("Contacts")
	s.says(number, "15550001111", "Ana Ruiz", textOf(strings.Repeat("a line\n", 60)+"end"))
	c.Click("link", "Inbox")
	c.openConversation("Ana Ruiz")
	c.article("end")
	c.WaitFor(`(l => l.scrollTop > 0 && l.querySelector(".unread-line").getBoundingClientRect().top >= l.getBoundingClientRect().top)(document.querySelector("[role=log]"))`)
	c.calm()
}

// Where only one pane fits, a conversation that is not there leads back to the list.
func TestAConversationThatIsNotHereLeadsBack(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	c := s.console(t, storage.RoleAgent)
	c.Do(chromedp.EmulateViewport(360, 740))
	c.openAddress("inbox/cnv_01KDYBMWFE00000000000000XX")
	c.Find("heading", "Not found")
	c.Click("link", "Back")
	c.showsRows("Ana Ruiz")
	c.Find("list", "Conversations")
	c.calm("status of 404")
}

// What somebody reads further up stays where it is, and what comes is counted.
func TestAThreadDoesNotMoveUnderWhoReads(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ids := s.fill(number, 1, 60)
	c := s.console(t, storage.RoleAgent)
	c.openAddress("inbox/" + ids[0])
	c.article("line 59.")
	c.WaitFor(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.querySelector("[role=log]"))`)
	middle := `(l => { const r = l.getBoundingClientRect(); const a = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2).closest("div.turn"); return a.textContent + Math.round(a.getBoundingClientRect().top) })(document.querySelector("[role=log]"))`
	eval[any](c.window, `void (document.querySelector("[role=log]").scrollTop -= 900)`)
	c.Find("button", "Newest messages")
	before := eval[string](c.window, middle)
	for i := range 3 {
		s.says(number, "16660000001", "Person 1", textOf(fmt.Sprintf("news %d.", i)))
	}
	c.WaitFor(`document.querySelector(".to-newest .chip")?.textContent === "3 new"`)
	c.is.Equal(eval[string](c.window, middle), before)
	c.shoot("inbox-thread-new")
	c.is.Equal(s.conversation(number, ids[0])["unread_count"], 3.0) // no one has seen them
	c.Click("button", "Newest messages")
	c.WaitFor(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.querySelector("[role=log]"))`)
	s.becomesTrue(func() bool { return s.conversation(number, ids[0])["unread_count"] == 0.0 })
	c.calm("status of 404")
}

// Films, voice notes and stickers are played and shown; what was edited or deleted says so.
func TestMediaIsPlayedAndChangesAreMarked(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	data := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	says := func(content string) string {
		return s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550001111","name":"Ana Ruiz",`+content+`}`)
	}
	first := says(textOf("befor the edit"))
	s.awaitEvent("message.received", byID(first))
	second := says(textOf("a secret"))
	s.awaitEvent("message.received", byID(second))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.article("a secret")
	says(`"type":"edit","edit":{"original_message_id":"` + first + `","message":{"type":"text","text":{"body":"before the edit"}}}`)
	c.article("before the edit")
	c.article("Edited")
	says(`"type":"revoke","revoke":{"original_message_id":"` + second + `"}`)
	c.article("Deleted by the sender")
	s.says(number, "15550001111", "Ana Ruiz", `"type":"video","video":{"data":"`+data("\x00\x00\x00\x18ftypmp42film")+`","mime_type":"video/mp4","caption":"a film"}`)
	s.says(number, "15550001111", "Ana Ruiz", `"type":"audio","audio":{"data":"`+data("OggS voice")+`","mime_type":"audio/ogg","voice":true}`)
	s.says(number, "15550001111", "Ana Ruiz", `"type":"sticker","sticker":{"data":"`+data("RIFF\x24\x00\x00\x00WEBPVP8 ")+`","mime_type":"image/webp"}`)
	for _, selector := range []string{`video[controls][src*="/media/"]`, `[role=group][aria-label="Voice message"] audio[src*="/media/"]`, `.bare img.sticker[src*="/media/"]`} {
		c.WaitFor(fmt.Sprintf(`document.querySelector(%q) !== null`, "[role=log] "+selector))
	}
	c.shoot("inbox-media")
	c.calm("status of 404")
}

// Of two answers of the server the older may come last: it changes nothing.
func TestAnOldAnswerThatComesLateChangesNothing(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550001111","name":"Ana Ruiz",`+textOf("zero")+`}`)
	s.awaitEvent("message.received", byID(wamid))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.article("zero")
	eval[any](c.window, `void ((real) => {
		const late = new Promise((resolve) => (globalThis.release = resolve));
		globalThis.fetch = async (url, options) => {
			const response = await real(url, options);
			if (globalThis.held || !/messages\/msg_/.test(url)) return response;
			const text = await response.text();
			globalThis.held = JSON.parse(text).data.text.body;
			await late;
			setTimeout(() => (globalThis.landed = true), 50);
			return new Response(text, response);
		};
	})(fetch)`)
	edit := func(text string) {
		s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550001111","name":"Ana Ruiz","type":"edit","edit":{"original_message_id":"`+wamid+`","message":{"type":"text","text":{"body":"`+text+`"}}}}`)
	}
	edit("one")
	c.WaitFor(`globalThis.held === "one"`)
	edit("two")
	c.article("two")
	eval[any](c.window, `void release()`)
	c.WaitFor(`globalThis.landed === true`)
	c.article("two")
	c.is.True(!eval[bool](c.window, `[...document.querySelectorAll("article")].some(a => a.textContent.includes("one"))`))
	c.calm("status of 404")
}
