package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// rowSays waits until the row of a person says something.
func (c *colleague) rowSays(name, text string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("[aria-label=Conversations] li")].find(li => li.querySelector("a").textContent === %q)?.textContent.includes(%q)`, name, text))
}

// lines waits until the thread says what happened, in this order, without the times.
func (c *colleague) lines(wanted ...string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("[role=log] .happened span")].map(p => p.textContent)) === JSON.stringify(%s)`, jsStrings(wanted)))
}

// A row says what was said last and by whom; a campaign hides nothing.
func (p *pair) seeWhoWroteLast() {
	s, number, mira, tomas := p.stage, p.number, p.mira, p.tomas
	s.resolveAll(number)
	eva := s.says(number, "15550003333", "Eva Roth", textOf("Do you have it in blue?"))
	bo := s.says(number, "15550004444", "Bo Berg", textOf("hello"))
	s.says(number, "15550005555", "Dan", textOf("thanks"))
	storagetest.Update(p.t, s.app.DB, func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		c, err := tx.Conversation(account.ID, eva)
		if err != nil {
			return err
		}
		body := "Spring sale!"
		return tx.InsertMessage(&storage.Message{
			AccountID: c.AccountID, ConversationID: c.ID, ContactID: c.ContactID, Direction: storage.Outbound, Type: "template", Status: storage.MessageRead,
			Source: storage.SourceBroadcast, Content: storage.JSON(`{"name":"spring_sale","language":{"code":"en_US"}}`), Body: &body,
		})
	})
	s.send(number, "+15550005555", textOf("Your parcel has left"))
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+bo, `{"status":"pending"}`)

	tomas.openAddress("inbox")
	mira.rowSays("Eva Roth", "Do you have it in blue?")
	mira.rowSays("Dan", "API: Your parcel has left")
	mira.rowSays("Bo Berg", "Pending")
	mira.count("Open", "3")
	tomas.openConversation("Bo Berg")
	tomas.Focus("textbox", "Message")
	tomas.Press("Hi Bo", kb.Enter)
	tomas.rowSays("Bo Berg", "You: Hi Bo")
	mira.rowSays("Bo Berg", "Tomas: Hi Bo")
	p.seeWhatHappened(bo)
}

// What happened stands between the messages.
func (p *pair) seeWhatHappened(bo string) {
	s, number, mira, tomas := p.stage, p.number, p.mira, p.tomas
	mira.openConversation("Bo Berg")
	mira.lines("Marked as pending by API")
	tomas.Click("button", "Assign to me")
	tomas.Find("button", "Add label")
	tomas.Press(kb.Escape, "l")
	tomas.Click("checkbox", "VIP")
	tomas.Find("button", "Remove label VIP")
	mira.lines("Marked as pending by API", "Assigned to Tomas Lind", "Labelled VIP by Tomas Lind")
	mira.Click("combobox", "Assignee")
	mira.Click("option", "Mira Kovač")
	s.becomesTrue(func() bool { return s.conversation(number, bo)["assignee"].(map[string]any)["name"] == "Mira Kovač" })
	mira.Click("button", "Resolve")
	s.becomesTrue(func() bool { return s.conversation(number, bo)["status"] == "resolved" })
	s.says(number, "15550004444", "Bo Berg", textOf("one more thing"))
	tomas.article("one more thing")
	tomas.lines("Marked as pending by API", "Assigned to Tomas Lind", "Labelled VIP by Tomas Lind", "Assigned to Mira Kovač", "Resolved by Mira Kovač", "Reopened by a new message")
	tomas.Press(kb.Escape)
	tomas.shoot("inbox-lines")
}

// Several conversations are assigned, labelled and resolved at once, and what failed is said.
func TestSeveralConversationsAreChangedAtOnce(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.label("VIP")
	s.label("Urgent")
	var ids []string
	for i, name := range []string{"Ana Ruiz", "Bo Berg", "Cleo", "Dan"} {
		ids = append(ids, s.says(number, fmt.Sprint(15550001111+i), name, textOf("hello")))
	}
	c := s.console(t, storage.RoleAgent)
	c.showsRows("Dan", "Cleo", "Bo Berg", "Ana Ruiz")
	c.Press("j", "x")
	c.Find("toolbar", "Selected")
	shiftClick := func(name string) {
		t.Helper()
		at := eval[[]float64](c.window, fmt.Sprintf(`(r => [r.x + r.width / 2, r.y + r.height / 2])([...document.querySelectorAll("[aria-label=Conversations] a")].find(a => a.textContent === %q).getBoundingClientRect())`, name))
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			c.Do(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1, Modifiers: int64(chromedp.ModifierShift)}))
		}
	}
	shiftClick("Bo Berg")
	c.shows("3 selected")
	c.is.Equal(len(c.All("checkbox")), 4)
	c.shoot("inbox-selected")

	c.Click("button", "Assign")
	c.Click("option", "Mira Kovač")
	c.toast("3 conversations assigned")
	c.Click("button", "Label")
	c.Find("checkbox", "Urgent")
	eval[any](c.window, `void document.querySelectorAll(".label-choice input").forEach(one => one.click())`) // one after the other
	c.toast("3 conversations labelled")
	c.Press(kb.Escape)
	eval[any](c.window, fmt.Sprintf(`void ((real) => {
		globalThis.fetch = (url, options) => options?.method === "PATCH" && String(url).includes(%q)
			? Promise.resolve(new Response(JSON.stringify({ error: { code: "internal", message: "Something went wrong." } }), { status: 500 }))
			: real(url, options);
	})(fetch)`, ids[2]))
	c.Click("button", "Resolve")
	c.shows("2 conversations resolved")
	c.shows("1 of 3 conversations not resolved: Cleo. Something went wrong.")
	c.shows("1 selected") // which failed
	c.showsRows("Cleo", "Ana Ruiz")
	c.shoot("inbox-selected-failed")
	c.Click("button", "Clear selection")
	c.Gone("toolbar", "Selected")
	for i, want := range []string{"open", "resolved", "open", "resolved"} {
		got := s.conversation(number, ids[i])
		c.is.Equal(got["status"], want)
		c.is.Equal(len(got["labels"].([]any)), 2*min(i, 1))
		c.is.Equal(got["assignee"] != nil, i > 0)
	}
	c.selectsByTouch()
	c.calm("status of 404")
	c.answersTenByKeyboard(number)
	c.calm("status of 404")
}

// By touch, a finger that rests on one selects it, and opens nothing; then taps select others.
func (c *colleague) selectsByTouch() {
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		c.t.Helper()
		c.Do(command(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)}))
	}
	middle := func(row string) *input.TouchPoint {
		at := eval[[]float64](c.window, `(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(".row:`+row+`-child").getBoundingClientRect())`)
		return &input.TouchPoint{X: at[0], Y: at[1]}
	}
	touch(input.DispatchTouchEventTypeTouchStart, middle("last"))
	c.Find("toolbar", "Selected")
	touch(input.DispatchTouchEventTypeTouchEnd)
	c.shows("1 selected")
	touch(input.DispatchTouchEventTypeTouchStart, middle("first"))
	touch(input.DispatchTouchEventTypeTouchEnd)
	c.shows("2 selected")
	c.Gone("textbox", "Message")
	c.Click("button", "Clear selection")
	c.Gone("toolbar", "Selected")
}

// Ten conversations are answered and resolved by keyboard alone, with few keys each.
func (c *colleague) answersTenByKeyboard(number string) {
	s := c.stage
	s.resolveAll(number)
	c.openAddress("inbox")
	var ids []string
	for i := range 10 {
		ids = append(ids, s.says(number, fmt.Sprint(15550002220+i), fmt.Sprintf("Person %d", i), textOf("hello")))
	}
	c.WaitFor(`document.querySelectorAll("[data-conversation]").length === 10`)
	keys := 0
	press := func(all ...string) {
		keys += len(all)
		c.Press(all...)
	}
	press("j", kb.Enter)
	c.Find("region", "Conversation with Person 9")
	press("r")
	for i := 9; i >= 0; i-- {
		c.Find("region", fmt.Sprintf("Conversation with Person %d", i))
		c.WaitFor(`document.activeElement.ariaLabel === "Message"`)
		c.Press("Here you are") // the text
		c.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl|chromedp.ModifierShift)))
		keys += 3 // Ctrl, Shift and Enter
		if i == 5 {
			c.Find("region", "Conversation with Person 4")
			c.shoot("inbox-next")
		}
	}
	c.Find("button", "Reopen") // there is none to go on to
	c.showsRows()
	for _, id := range ids {
		c.is.Equal(s.conversation(number, id)["status"], "resolved")
		c.is.Equal(len(s.outbound(number, id)), 1)
	}
	c.t.Logf("%d keys for ten conversations", keys)
	c.is.True(keys <= 10*7)

	// Who goes on to another while it is sent resolves the one that was written to.
	s.says(number, "15550002221", "Person 1", textOf("And now?"))
	s.says(number, "15550002220", "Person 0", textOf("And now?"))
	c.openConversation("Person 1")
	c.answerSends(200, "")
	c.Fill("textbox", "Message", "Soon")
	c.Click("button", "Send and resolve")
	c.openConversation("Person 0")
	c.release()
	s.becomesTrue(func() bool { return s.conversation(number, ids[1])["status"] == "resolved" })
	c.is.Equal(s.conversation(number, ids[0])["status"], "open")

	// What is refused is not resolved.
	c.Find("button", "Resolve")
	eval[any](c.window, `void ((real) => {
		globalThis.fetch = (url, options) => options?.method === "POST" && /\/messages$/.test(url)
			? Promise.resolve(new Response(JSON.stringify({ error: { code: "recipient_unavailable", message: "No." } }), { status: 400 }))
			: real(url, options);
	})(fetch)`)
	c.Fill("textbox", "Message", "Tomorrow")
	c.Click("button", "Send and resolve")
	c.written("Tomorrow")
	c.Find("button", "Resolve")
	c.is.Equal(s.conversation(number, ids[0])["status"], "open")
	c.is.True(!strings.Contains(strings.Join(c.All("button"), " "), "Reopen"))
}
