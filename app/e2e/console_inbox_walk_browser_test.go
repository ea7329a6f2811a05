package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// How long two people work in the test of what they do at random. 500 actions are about an
// hour of work, and take a minute or two.
var (
	inboxActions = flag.Int("inbox-actions", 80, "how much two people do at random in the inbox")
	inboxSeed    = flag.Uint64("inbox-seed", 1, "what they do")
)

// walk is what two people do at random, while others write and programs change things.
type walk struct {
	*stage
	number  string
	random  *rand.Rand
	names   []string
	numbers map[string]string // by name
	ids     map[string]string // of the conversations, by name
}

// someone is one of those who write.
func (w *walk) someone() string { return w.names[w.random.IntN(len(w.names))] }

// act lets somebody do one thing.
func (w *walk) act(c *colleague, i int) {
	c.t.Helper()
	switch w.random.IntN(12) {
	case 0, 1: // a person writes
		name := w.someone()
		w.says(w.number, w.numbers[name], name, textOf(fmt.Sprintf("question %d", i)))
	case 2, 3: // somebody answers
		c.Focus("textbox", "Message")
		c.Press(fmt.Sprintf("answer %d", i), kb.Enter)
	case 4: // in a tunnel
		c.offline(true)
		c.Focus("textbox", "Message")
		c.Press(fmt.Sprintf("answer %d", i), kb.Enter)
		c.offline(false)
	case 5:
		name := w.someone()
		eval[any](c.window, fmt.Sprintf(`void document.querySelector("[data-conversation=%s]").click()`, w.ids[name]))
		c.Find("region", "Conversation with "+name)
		c.Find("textbox", "Message")
	case 6:
		eval[any](c.window, `void document.activeElement?.blur()`)
		c.Press([]string{"e", "o", "u"}[w.random.IntN(3)])
	case 7:
		eval[any](c.window, `void [...document.querySelectorAll(".details button")].find(b => b.textContent === "Assign to me")?.click()`)
	case 8:
		eval[any](c.window, `void (document.querySelector(".label-choice") ?? document.querySelector("#add-label")?.click())`)
		eval[any](c.window, fmt.Sprintf(`void document.querySelectorAll(".label-choice input")[%d]?.click()`, w.random.IntN(2)))
	case 9: // a program
		w.call("PATCH", w.app.URL()+"/v1/"+w.number+"/conversations/"+w.ids[w.someone()], `{"assigned_to":null,"status":"open"}`)
	case 10: // looks elsewhere, and comes back
		for _, tab := range []string{[]string{"open", "mine", "unread", "resolved"}[w.random.IntN(4)], "all"} {
			eval[any](c.window, fmt.Sprintf(`void document.getElementById("tab-%s").click()`, tab))
		}
		c.WaitFor(fmt.Sprintf(`document.querySelectorAll("[data-conversation]").length === %d`, len(w.names)))
	case 11:
		if w.random.IntN(3) == 0 {
			c.Do(chromedp.Reload())
			c.WaitFor(fmt.Sprintf(`document.querySelectorAll("[data-conversation]").length === %d && document.querySelector("textarea") !== null`, len(w.names)))
		} else {
			c.offline(true)
			c.offline(false)
		}
	}
}

func TestTwoPeopleAndTheDatabaseAgreeInTheEnd(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	w := &walk{
		stage: s, number: s.connect(), random: rand.New(rand.NewPCG(*inboxSeed, 2)),
		names: []string{"Ana", "Cleo", "Dan", "Eva", "Finn"}, numbers: make(map[string]string), ids: make(map[string]string),
	}
	for _, name := range []string{"VIP", "Gift"} {
		s.label(name)
	}
	for i, name := range w.names {
		w.numbers[name] = fmt.Sprint(15550001110 + i)
		w.ids[name] = s.says(w.number, w.numbers[name], name, textOf("hello"))
	}
	people := []*colleague{s.joins(t, "Mira Kovač", "mira@example.com"), s.joins(t, "Bo Berg", "bo@example.com")}
	for _, c := range people {
		c.Click("tab", "All")
		c.openConversation("Ana")

		// Another conversation must not open between the focus and the words: those would be keys.
		c.Click("button", "More actions")
		c.Click("menuitemcheckbox", "Go on to the next")
		c.WaitFor(`localStorage["confab.go_on"] === "off"`)
	}
	for i := range *inboxActions {
		w.act(people[w.random.IntN(2)], i)
	}

	for _, c := range people {
		agrees(t, "what waits", c.waits, func() string { return "[]" })
	}
	for _, c := range people {
		agrees(t, "the list", c.listOf, func() []shownRow { return storedList(s.read, w.number) })
		agrees(t, "the counts", c.countsOf, func() map[string]int { return storedCounts(s.read, w.number) })
		open := eval[string](c.window, `location.pathname.split("/").pop()`)
		agrees(t, "the thread", c.threadOf, func() []shownMessage { return c.endOf(storedThread(s.read, w.number, open)) })
	}
	seen := make(map[string]bool)
	for _, id := range w.ids {
		for _, m := range storedThread(s.read, w.number, id) {
			if strings.HasPrefix(m.Text, "answer") && seen[m.Text] {
				t.Errorf("%q was sent twice", m.Text)
			}
			seen[m.Text] = true
		}
	}
}

// waits is what waits in the browser to be sent.
func (c *colleague) waits() string {
	c.t.Helper()
	return eval[string](c.window, `JSON.stringify(Object.keys(localStorage).filter(k => k.includes("outbox")).map(k => JSON.parse(localStorage[k])))`)
}

// countsOf are the counts of the tabs that are the same for everybody.
func (c *colleague) countsOf() map[string]int {
	c.t.Helper()
	return eval[map[string]int](c.window, `Object.fromEntries(["open", "unassigned", "unread", "resolved", "all"].map(id => [id, Number(document.getElementById("count-" + id).textContent)]))`)
}

// storedCounts are what they should be.
func storedCounts(read func(path string, into any), number string) map[string]int {
	var got struct {
		Data []struct {
			Status   string
			Assignee *struct{ Name string }
			Unread   int `json:"unread_count"`
		}
	}
	read("/"+number+"/conversations?limit=100", &got)
	counts := map[string]int{"open": 0, "unassigned": 0, "unread": 0, "resolved": 0, "all": len(got.Data)}
	for _, one := range got.Data {
		counts[one.Status]++
		if one.Status == "open" && one.Assignee == nil {
			counts["unassigned"]++
		}
		if one.Status == "open" && one.Unread > 0 {
			counts["unread"]++
		}
	}
	return counts
}
