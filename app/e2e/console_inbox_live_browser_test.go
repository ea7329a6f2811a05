package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/storage"
)

// joins opens a browser at the console, signed in as a new colleague.
func (s *stage) joins(t *testing.T, name, email string) *colleague {
	t.Helper()
	return s.seated(t, name, email, storage.RoleAgent)
}

// shownRow is a conversation of the list as somebody sees it.
type shownRow struct {
	ID, Name, Assignee string
	Unread, Labels     int
}

// shownMessage is a message of a thread as somebody sees it.
type shownMessage struct{ ID, Text, State string }

// listOf is what the list shows of all conversations.
func (c *colleague) listOf() (rows []shownRow) {
	c.t.Helper()
	text := eval[string](c.window, `JSON.stringify([...document.querySelectorAll("[aria-label=Conversations] li")].map(li => ({
		ID: li.querySelector("a").dataset.conversation, Name: li.querySelector("a").textContent, Assignee: li.querySelector(".face.tiny")?.ariaLabel ?? "",
		Unread: Number(li.querySelector("b.count")?.textContent ?? 0), Labels: li.querySelectorAll(".dot").length })))`)
	c.is.NoErr(json.Unmarshal([]byte(text), &rows))
	return rows
}

// threadOf is what the thread that is open shows.
func (c *colleague) threadOf() (all []shownMessage) {
	c.t.Helper()
	text := eval[string](c.window, `JSON.stringify([...document.querySelectorAll("[role=log] article")].map(a => ({
		ID: a.id, Text: a.querySelector(".message-text")?.textContent ?? "", State: a.querySelector(".tick .unseen")?.textContent ?? "" })))`)
	c.is.NoErr(json.Unmarshal([]byte(text), &all))
	return all
}

// storedList is what the API has of all conversations.
func storedList(read func(path string, into any), number string) (rows []shownRow) {
	var got struct {
		Data []struct {
			ID       string
			Contact  struct{ Name, PhoneNumber string }
			Assignee *struct{ Name string }
			Labels   []any
			Unread   int `json:"unread_count"`
		}
	}
	read("/"+number+"/conversations?limit=100", &got)
	for _, one := range got.Data {
		row := shownRow{ID: one.ID, Name: one.Contact.Name, Unread: one.Unread, Labels: len(one.Labels)}
		if one.Assignee != nil {
			row.Assignee = "Assigned to " + one.Assignee.Name
		}
		rows = append(rows, row)
	}
	return rows
}

// storedThread is what the API has of a thread of texts.
func storedThread(read func(path string, into any), number, conversation string) (all []shownMessage) {
	var got struct {
		Data []struct {
			ID, Direction, Status string
			Text                  struct{ Body string }
		}
	}
	read("/"+number+"/messages?limit=100&conversation_id="+conversation, &got)
	for _, m := range slices.Backward(got.Data) {
		one := shownMessage{ID: m.ID, Text: m.Text.Body}
		if m.Direction == "outbound" {
			one.State = m.Status
		}
		all = append(all, one)
	}
	return all
}

// endOf is the end of a thread, as far as it is on the page: a page of it at least, and
// earlier messages when somebody scrolls there.
func (c *colleague) endOf(all []shownMessage) []shownMessage {
	c.t.Helper()
	const page = 30
	return all[len(all)-min(len(all), max(page, len(c.threadOf()))):]
}

// agrees waits until a screen shows the stored state.
func agrees[T any](t *testing.T, what string, seen, stored func() T) {
	t.Helper()
	if !until(func() bool { return fmt.Sprintf("%+v", seen()) == fmt.Sprintf("%+v", stored()) }) {
		t.Fatalf("%s: on screen\n%+v\nstored\n%+v", what, seen(), stored())
	}
}

// pair are two people at the inbox of a number, each in one window for all that is tried.
type pair struct {
	*stage
	t           *testing.T
	number      string
	mira, tomas *colleague
}

func TestTwoPeopleSeeWhatTheOtherDoes(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.label("VIP")
	p := &pair{s, t, number, s.joins(t, "Mira Kovač", "mira@example.com"), s.joins(t, "Tomas Lind", "tomas@example.com")}
	p.seeWhatTheOtherDoes()
	p.seeWhoWroteLast()
	p.mira.calm("status of 404")
	p.tomas.calm("status of 404")

	p.mira.forget()
	p.leaveNotes()
	p.putOffWhatCanWait()
	p.mira.saveAView()
	p.mira.fits()
	p.mira.calm()
}

func (p *pair) seeWhatTheOtherDoes() {
	s, number, mira, tomas := p.stage, p.number, p.mira, p.tomas
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	mira.openConversation("Ana Ruiz")
	tomas.openConversation("Ana Ruiz")
	saying := func(c *colleague, text string) {
		c.t.Helper()
		c.WaitFor(fmt.Sprintf(`document.querySelector(".presence").textContent === %q`, text))
	}
	saying(mira, "Tomas Lind is looking at this too")
	saying(tomas, "Mira Kovač is looking at this too")
	tomas.Focus("textbox", "Message")
	tomas.Press("W")
	saying(mira, "Tomas Lind is typing")
	mira.shoot("inbox-presence")
	tomas.Press("e do!", kb.Enter)
	saying(mira, "Tomas Lind is looking at this too")
	tomas.Press("A")
	saying(mira, "Tomas Lind is typing")
	tomas.Press(kb.Backspace)
	mira.state("We do!", "read")
	tomas.state("We do!", "read")
	mira.article("Tomas Lind")

	// What one does is on the other's screen.
	tomas.Click("button", "Assign to me")
	mira.WaitFor(`document.querySelector("#assignee span[dir]").textContent === "Tomas Lind"`)
	tomas.Click("button", "Add label")
	tomas.Click("checkbox", "VIP")
	mira.Find("button", "Remove label VIP")
	tomas.Click("button", "Resolve")
	mira.Find("button", "Reopen")
	mira.showsRows()

	// Somebody writes to a resolved one: it opens again, in front.
	s.says(number, "15550002222", "Cleo", textOf("hello"))
	mira.showsRows("Cleo")
	s.says(number, "15550001111", "Ana Ruiz", textOf("one more thing"))
	mira.showsRows("Ana Ruiz", "Cleo")
	tomas.article("one more thing")
	tomas.Find("button", "Resolve")
	p.measure(ana)

	// Presence ends with the one who leaves.
	tomas.Click("link", "Contacts")
	saying(mira, "")
	tomas.openAddress("inbox/" + ana)
	saying(mira, "Tomas Lind is looking at this too")
	tomas.open("settings/profile", "Profile") // the whole page is left
	saying(mira, "")
}

// measure logs how long it takes from the server to the screen, for the reader of the output.
func (p *pair) measure(ana string) {
	s, number, mira := p.stage, p.number, p.mira
	eval[any](mira.window, `void (globalThis.seen = {}, new MutationObserver(() => document.querySelectorAll("article").forEach(a => seen[a.id] ??= Date.now())).observe(document.querySelector("[role=log]"), { childList: true, subtree: true }))`)
	for i := range 5 {
		s.says(number, "15550001111", "Ana Ruiz", textOf(fmt.Sprintf("number %d.", i)))
	}
	mira.article("number 4.")
	var took []float64
	for _, m := range storedThread(s.read, number, ana)[4:] {
		at := s.call("GET", s.app.URL()+"/v1/"+number+"/messages/"+m.ID, "")["created_at"].(string)
		took = append(took, eval[float64](mira.window, fmt.Sprintf(`seen[%q] - Date.parse(%q)`, m.ID, at)))
	}
	slices.Sort(took)
	p.t.Logf("stored to on screen: median %.0f ms, p95 %.0f ms, at most %.0f ms", took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
	agrees(p.t, "Mira's thread", mira.threadOf, func() []shownMessage { return storedThread(s.read, number, ana) })
}
