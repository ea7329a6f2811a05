package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// desk is somebody at the inbox of a number, in one window for several things that are tried one
// after the other.
type desk struct {
	*colleague
	number string
}

func newDesk(t *testing.T, role string, change ...func(*config.Config)) *desk {
	t.Helper()
	s := newStage(t, change...)
	number := s.connect()
	return &desk{s.console(t, role), number}
}

// meets lets somebody write who becomes the only one with an open conversation, and opens it.
func (c *desk) meets(from, name, content string) (conversation string) {
	c.t.Helper()
	c.stage.resolveAll(c.number)
	conversation = c.stage.says(c.number, from, name, content)
	c.openConversation(name)
	return conversation
}

// isRead waits until a conversation that is on the screen counts as read. Who leaves it before has not
// read it.
func (c *desk) isRead(conversation string) {
	c.t.Helper()
	c.stage.becomesTrue(func() bool { return c.stage.conversation(c.number, conversation)["unread_count"] == 0.0 })
}

// resolveAll resolves all conversations of a number.
func (s *stage) resolveAll(number string) {
	s.t.Helper()
	for _, id := range storagetest.Select[string](s.t, s.app.Config.DataDir, `SELECT id FROM conversations WHERE status <> 'resolved'`) {
		s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+id, `{"status":"resolved"}`)
	}
}

// What changes elsewhere is on the screen, one thing after the other in one window.
func TestTheInboxFollows(t *testing.T) {
	parallelBrowser(t)
	c := newDesk(t, storage.RoleAgent, func(c *config.Config) {
		c.Provider.RetrySchedule = slices.Repeat([]time.Duration{50 * time.Millisecond}, 1000)
	})
	c.sendsOnlyDetailsThatWereTyped()
	c.losesADeletedLabel()
	c.isToldOfAReactionThatFailedLater()
	c.seesNothingNewInWhatIsScheduled()
	c.seesWhereTheUnreadBegin()
	c.followsWhatWasUnderWayForLong()
	c.readsAgainWhatWasPutOff()
	c.calm()
	c.readsNothingInTheBackground()
	c.losesADeletedPerson()
	c.calm("status of 404")
	c.forget()
	c.followsAfterABreak()
	c.calm("ERR_INTERNET_DISCONNECTED")
	c.forget()
	c.hasASearchBoxThatFollows()
	c.closesWithTheWindow()
	c.calm()
	c.open("", "Inbox")
	c.isToldOfARefusedReaction()
	c.calm("status of 4")
}

// Who saves one field in the details leaves the others to those who changed them meanwhile.
func (c *desk) sendsOnlyDetailsThatWereTyped() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001111", "Ana Ruiz", textOf("hi"))
	c.Fill("textbox", "Email", "ana@example.com")
	contact := s.app.URL() + "/v1/" + number + "/contacts/" + s.conversation(number, conversation)["contact"].(map[string]any)["id"].(string)
	s.call("PATCH", contact, `{"name":"Ana Nueva"}`)
	c.WaitFor(`document.querySelector(".details input[name=name]").value === "Ana Nueva"`)
	c.Click("button", "Save")
	c.toast("Saved")
	now := s.call("GET", contact, "")
	c.is.Equal(now["name"], "Ana Nueva")
	c.is.Equal(now["email"], "ana@example.com")
}

// A label that is renamed has its new name; one that is deleted leaves the rows, the thread and the filter.
func (c *desk) losesADeletedLabel() {
	s, number := c.stage, c.number
	conversation := c.meets("15550002222", "Bo Berg", textOf("hi"))
	vip := s.label("VIP")
	s.call("POST", s.app.URL()+"/v1/"+number+"/conversations/"+conversation+"/labels", `{"label_id":"`+vip+`"}`)
	s.says(number, "15550003333", "Cleo", textOf("hello"))
	c.offersLabel("VIP")
	c.openAddress("inbox/" + conversation + "?label=" + vip)
	c.showsRows("Bo Berg")
	c.Find("button", "Remove label VIP")
	s.call("PATCH", s.app.URL()+"/v1/labels/"+vip, `{"name":"Regular"}`)
	c.Find("button", "Remove label Regular")
	c.showsRows("Bo Berg")
	s.exchange("DELETE", s.app.URL()+"/v1/labels/"+vip, "")
	c.Gone("button", "Remove label Regular")
	c.showsRows("Cleo", "Bo Berg")
	c.is.Equal(c.Describe("combobox", "Filter by label").Value, "Any label")
	c.is.Equal(c.at(), "inbox/"+conversation)
}

// A reaction that the provider refuses later is in the thread, with the reason.
func (c *desk) isToldOfAReactionThatFailedLater() {
	s := c.stage
	c.meets("15550004444", "Dan", textOf("hi"))
	s.fault(`{"kind":"error_code","code":131026,"async":true,"times":1,"to":"15550004444"}`)
	c.onArticle("hi", "React")
	c.Click("button", "❤️")
	c.article("Reacted ❤️")
	c.article("(131026)")
	c.shoot("inbox-reaction-failed")

	// Sent again, it is where reactions are.
	eval[any](c.window, `void [...document.querySelectorAll("article.failed button")].find(b => b.textContent === "Send again").click()`)
	c.WaitFor(`document.querySelector(".reactions")?.textContent.includes("❤️")`)
}

// What the provider took late is followed, however much came after it.
func (c *desk) followsWhatWasUnderWayForLong() {
	s, number := c.stage, c.number
	c.meets("15550001717", "Uma", textOf("Is it ready?"))
	s.fault(`{"kind":"http_500","times":0,"to":"15550001717"}`)
	s.send(number, "+15550001717", textOf("Come by today"))
	c.state("Come by today", "queued")
	for i := range 12 {
		s.says(number, "15550001717", "Uma", textOf(fmt.Sprint("And ", i, "?")))
	}
	c.article("And 11?")
	s.call("DELETE", s.simURL+"/_sim/faults", "")
	c.state("Come by today", "read")
}

// A read that the server has no time for is sent again, though nothing else happens.
func (c *desk) readsAgainWhatWasPutOff() {
	c.meets("15550001818", "Vera", textOf("Are you there?"))
	c.article("Are you there?")
	eval[any](c.window, `void (real => {
		let until = 0;
		window.fetch = async (url, options) => {
			if (!/\/messages\?/.test(url) || performance.now() > (until ||= performance.now() + 1500)) return real(url, options);
			return new Response("{}", { status: 503, headers: { "Retry-After": "1" } });
		};
	})(fetch)`)
	c.stage.says(c.number, "15550001818", "Vera", textOf("Hello?"))
	c.article("Hello?")
}

// What waits for its time is at the end, and makes nothing before it new.
func (c *desk) seesNothingNewInWhatIsScheduled() {
	s, number := c.stage, c.number
	conversation := s.says(number, "15550001212", "Kim", textOf("first"))
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	s.send(number, "+15550001212", `"type":"text","text":{"body":"tomorrow"},"scheduled_at":"`+later+`"`)
	for i := range 12 {
		s.says(number, "15550001212", "Kim", textOf(strings.Repeat("a line\n", 12)+fmt.Sprint(i, ".")))
	}
	c.openAddress("inbox/" + conversation)
	c.article("tomorrow")
	c.WaitFor(`(l => { l.scrollTop = l.scrollHeight; return l.scrollHeight - l.scrollTop - l.clientHeight < 2 })(document.querySelector("[role=log]"))`)
	eval[any](c.window, `void (document.querySelector("[role=log]").scrollTop -= 900)`)
	c.Find("button", "Newest messages")
	c.is.True(!eval[bool](c.window, `document.querySelector(".to-newest .chip") !== null`))
}

// The line is before the first unread message, also when a page holds fewer.
func (c *desk) seesWhereTheUnreadBegin() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001313", "Lea", textOf("seen"))
	c.article("seen")
	c.isRead(conversation)
	c.Click("link", "Contacts")
	c.heading("Contacts")
	for i := range 45 {
		s.says(number, "15550001313", "Lea", textOf(fmt.Sprintf("news %d.", i)))
	}
	c.Click("link", "Inbox")
	c.openConversation("Lea")
	c.article("news 0.")
	c.WaitFor(`document.querySelector(".unread-line")?.parentElement.textContent.includes("news 0.")`)
	c.isRead(conversation)

	// It is in sight, also when one message is more than the screen holds.
	c.Click("link", "Contacts")
	c.heading("Contacts")
	s.says(number, "15550001313", "Lea", textOf(strings.Repeat("a line\n", 60)+"end"))
	c.Click("link", "Inbox")
	c.openConversation("Lea")
	c.article("end")
	c.WaitFor(`(l => l.scrollTop > 0 && l.querySelector(".unread-line").getBoundingClientRect().top >= l.getBoundingClientRect().top)(document.querySelector("[role=log]"))`)
}

// What comes is read only when somebody really has it on screen.
func (c *desk) readsNothingInTheBackground() {
	s, number := c.stage, c.number
	conversation := c.meets("15550005555", "Eva", textOf("hi"))
	c.isRead(conversation)
	c.WaitFor(`document.querySelector(".row.current b.count") === null`)
	c.hide(true)
	s.says(number, "15550005555", "Eva", textOf("anybody there?"))
	c.article("anybody there?")
	c.WaitFor(`document.querySelector(".row.current b.count")?.textContent === "1"`)
	c.is.Equal(s.conversation(number, conversation)["unread_count"], 1.0)
	c.hide(false)
	c.isRead(conversation)
}

// A contact that a colleague deletes is gone from the screen of who reads it.
func (c *desk) losesADeletedPerson() {
	s, number := c.stage, c.number
	conversation := c.meets("15550006666", "Finn", textOf("hi"))
	contact := s.conversation(number, conversation)["contact"].(map[string]any)["id"].(string)
	s.exchange("DELETE", s.app.URL()+"/v1/"+number+"/contacts/"+contact, "")
	c.Find("heading", "Not found")
	c.showsRows()
}

// The open conversation is read again after a break, also where the list does not show it any more.
func (c *desk) followsAfterABreak() {
	s, number := c.stage, c.number
	conversation := c.meets("15550007777", "Gil", textOf("hi"))

	// What happened meanwhile is told, also where nothing is other than before.
	brief := s.label("Brief")
	labels := s.app.URL() + "/v1/" + number + "/conversations/" + conversation + "/labels"
	c.offline(true)
	c.Find("button", "Try now")
	s.call("POST", labels, `{"label_id":"`+brief+`"}`)
	s.exchange("DELETE", labels+"/"+brief, "")
	c.offline(false)
	c.lines("Labelled Brief by API", "Label Brief removed by API")

	c.offline(true)
	c.Find("button", "Try now")
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+conversation, `{"status":"resolved"}`)
	c.offline(false)
	c.Find("button", "Reopen")
	c.showsRows()
}

// The box for searching shows the current search, and / leads to it from a thread too.
func (c *desk) hasASearchBoxThatFollows() {
	s, number := c.stage, c.number
	conversation := s.says(number, "15550008888", "Hanna", textOf("hello"))
	c.openAddress("inbox")
	box := `document.querySelector("#search-messages")`
	c.Fill("searchbox", "Search messages", "hello ")
	c.WaitFor(`location.search === "?search=hello"`)
	c.is.Equal(eval[string](c.window, box+`.value`), "hello ") // typing is not disturbed
	c.Click("tab", "All")
	c.WaitFor(box + `.value === "" && location.search === "?tab=all"`)
	c.Do(chromedp.EmulateViewport(360, 740))
	c.openAddress("inbox/" + conversation)
	c.article("hello")
	c.Press(kb.Escape, "/")
	c.WaitFor(`document.activeElement === ` + box)
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.openAddress("inbox")
}

// The window closes on the second, whether or not the time that is shown has moved on.
func (c *desk) closesWithTheWindow() {
	s, number := c.stage, c.number
	conversation := c.meets("15550009999", "Ida", textOf("hi"))
	eval[any](c.window, `void (() => { for (let i = 0; i < 9999; i++) clearInterval(i) })()`)
	storagetest.Exec(c.t, s.app.Config.DataDir, `UPDATE conversations SET last_inbound_at = ?`, storage.Now().Add(2*time.Second-24*time.Hour))
	s.call("PATCH", s.app.URL()+"/v1/"+number+"/conversations/"+conversation, `{"status":"pending"}`)
	c.Find("button", "Choose a template")
}

// A reaction that is refused says so, and does not wait where no one sees it.
func (c *desk) isToldOfARefusedReaction() {
	s, number := c.stage, c.number
	c.meets("15550001010", "Jon", textOf("hi"))
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err == nil {
			err = tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, "Removed.")
		}
		return err
	})
	c.onArticle("hi", "React")
	c.Click("button", "❤️")
	c.WaitFor(`document.querySelector(".toast.bad") !== null`)
	c.is.Equal(eval[int](c.window, `Object.keys(localStorage).filter(k => k.startsWith("confab.outbox")).length`), 0)
}
