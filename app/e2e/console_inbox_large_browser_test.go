package e2e

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"confab/storage"
	"confab/storage/storagetest"
)

// How much the inbox holds in the test of large ones. 100,000 and 20,000 are what the
// console is built for; they take a minute.
var (
	inboxPeople   = flag.Int("inbox-people", 260, "how many people have written")
	inboxMessages = flag.Int("inbox-messages", 450, "how many messages the longest thread has")
)

// fill stores people who wrote a line each, and returns their conversations, the newest
// first. The first of them has a long thread.
func (s *stage) fill(number string, people, messages int) (ids []string) {
	s.t.Helper()
	const perCommit, ago = 5000, 600_000 // milliseconds: messages written now are newer
	for from := 0; from < people; from += perCommit {
		storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
			tx.Order -= ago
			account, err := tx.AccountByNumber(number)
			for i := from; i < min(people, from+perCommit) && err == nil; i++ {
				var id string
				id, err = insertThread(tx, account.ID, i, 1)
				ids = append(ids, id)
			}
			return err
		})
	}
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		tx.Order -= ago
		account, err := tx.AccountByNumber(number)
		if err == nil {
			var id string
			id, err = insertThread(tx, account.ID, people, messages)
			ids = append(ids, id)
		}
		return err
	})
	slices.Reverse(ids)
	return ids
}

// insertThread stores a person with messages a second apart.
func insertThread(tx *storage.Tx, account int64, i, messages int) (string, error) {
	phone, name := fmt.Sprint("+", 16660000000+i), fmt.Sprintf("Person %d", i)
	contact := storage.Contact{AccountID: account, PhoneNumber: &phone, Name: &name}
	if err := tx.InsertContact(&contact); err != nil {
		return "", err
	}
	c, err := tx.EnsureConversation(account, contact.ID)
	for n := range messages {
		if err != nil {
			break
		}
		tx.Now++
		wamid := fmt.Sprintf("wamid.%d.%d", i, n)
		err = tx.InsertMessage(&storage.Message{
			AccountID: account, ConversationID: c.ID, ContactID: contact.ID, Direction: storage.Inbound, Type: "text", Status: storage.MessageRead,
			Source: storage.SourceAPI, ProviderID: &wamid, PhoneNumber: &phone, Content: storage.JSON(fmt.Sprintf(`{"body":"line %d."}`, n)),
		})
	}
	if err != nil {
		return "", err
	}
	return c.ID, tx.MarkMessageWritten(c.ID, "text", storage.SourceAPI)
}

// Long lists and threads hold few rows on the page, and do not jump.
func TestLongListsAndThreadsStayShort(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	ids := s.fill(number, *inboxPeople, *inboxMessages)
	c := s.measured(t, ids)
	c.openAddress("inbox/" + ids[0] + "?tab=all")
	c.article(fmt.Sprintf("line %d.", *inboxMessages-1))
	c.WaitFor(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 2)(document.querySelector("[role=log]"))`)
	c.scrollsUp()
	c.Click("button", "Newest messages")
	c.article(fmt.Sprintf("line %d.", *inboxMessages-1))

	// Down the list as far as two hundred rows and more reach.
	c.WaitFor(`(l => {
		const scroll = document.querySelector(".scroll");
		globalThis.rows = Math.max(globalThis.rows ?? 0, l.children.length);
		scroll.scrollTop = scroll.scrollHeight;
		return !l.style.paddingBlock.startsWith("0px");
	})(document.querySelector("[aria-label=Conversations]"))`)
	c.is.True(eval[int](c.window, `rows`) <= 200)

	// While it is scrolled, what comes is counted, and nothing moves.
	const inTheMiddle = `(l => {
		const r = l.getBoundingClientRect();
		return document.elementFromPoint(r.left + 60, r.top + r.height / 2).closest("li")?.querySelector("a").textContent ?? "";
	})(document.querySelector(".scroll"))`
	c.WaitFor(inTheMiddle + ` !== ""`) // it is drawn
	before := eval[string](c.window, inTheMiddle)
	s.says(number, "15550009999", "Zoe", textOf("me too"))
	c.Find("button", "1 new")
	c.is.Equal(eval[string](c.window, inTheMiddle), before)
	c.shoot("inbox-new")
	c.Click("button", "1 new")
	c.WaitFor(`document.querySelector("[aria-label=Conversations] a").textContent === "Zoe"`)
	c.calm("status of 404")
}

// measured opens the inbox. For somebody who reads the output, it is alone in its browser, so that
// its tasks are its own, and they are measured.
func (s *stage) measured(t *testing.T, ids []string) *colleague {
	t.Helper()
	if !testing.Verbose() {
		return s.console(t, storage.RoleAgent)
	}

	c := s.console(t, storage.RoleAgent, chromedp.Flag("no-first-run", true))
	tasks := recordTasks(c.window)
	t.Cleanup(func() {
		for _, one := range tasks()[:3] {
			t.Logf("one of the longest tasks: %v", one)
		}
	})
	c.measureOpening(ids)
	return c
}

// openAddress goes to an address as a link would.
func (c *colleague) openAddress(path string) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void (() => { const a = document.createElement("a"); a.href = "/console/%s"; document.body.append(a); a.click(); a.remove() })()`, path))
}

// measureOpening opens some conversations and logs how long that took until they were painted.
func (c *colleague) measureOpening(ids []string) {
	c.t.Helper()
	var took []float64
	for _, id := range ids[:20] {
		c.WaitFor(fmt.Sprintf(`document.querySelector("[data-conversation=%s]") !== null`, id))
		took = append(took, eval[float64](c.window, fmt.Sprintf(`new Promise(done => {
			const began = performance.now();
			document.querySelector("[data-conversation=%s]").click();
			const look = () => location.pathname.endsWith(%q) && document.querySelector(".thread-name h2")?.textContent === document.querySelector(".row.current a")?.textContent && document.querySelector("article")
				? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))) : requestAnimationFrame(look);
			look();
		})`, id, id)))
	}
	slices.Sort(took)
	c.t.Logf("opening a conversation among %d: median %.0f ms, p95 %.0f ms", len(ids), took[10], took[18])
}

// scrollsUp scrolls to the beginning of a thread, or far up: the messages in view stay in place.
func (c *colleague) scrollsUp() {
	c.t.Helper()
	top := `(() => { const l = document.querySelector("[role=log]"), e = l.getBoundingClientRect().top; const a = [...l.querySelectorAll("article")].find(a => a.getBoundingClientRect().bottom > e + 5); return a.id + " " + Math.round(a.getBoundingClientRect().top - e) })()`
	for range 40 {
		if eval[bool](c.window, `document.querySelector("article .message-text").textContent === "line 0."`) {
			return
		}
		first := eval[string](c.window, `document.querySelector("article").id`)
		before := eval[string](c.window, `document.querySelector("[role=log]").scrollTop = 100, `+top)
		c.WaitFor(fmt.Sprintf(`document.querySelector("article").id !== %q`, first))
		c.WaitFor(top + fmt.Sprintf(` === %q`, before))
		c.is.True(eval[int](c.window, `document.querySelectorAll("article").length`) <= 200)
	}
}
