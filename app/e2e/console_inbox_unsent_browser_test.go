package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// answerSends lets the page get an answer of the test to what it sends, once it is released:
// the status 0 for a connection that is cut, 200 for the server's own.
func (c *colleague) answerSends(status int, code string) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void (() => {
		globalThis.realFetch ??= fetch;
		globalThis.tries = 0;
		const released = new Promise((resolve) => (globalThis.release = resolve));
		globalThis.fetch = async (url, options) => {
			if (options?.method !== "POST" || !/\/messages$/.test(url)) return realFetch(url, options);
			globalThis.tries++;
			await released;
			if (%[1]d === 200) return realFetch(url, options);
			if (%[1]d === 0) throw new TypeError("cut");
			return new Response(JSON.stringify({ error: { code: %[2]q, message: "No." } }), { status: %[1]d });
		};
	})()`, status, code))
}

// answered lets the server itself answer what the page sends from now on.
func (c *colleague) answered() {
	c.t.Helper()
	c.answerSends(200, "")
	c.release()
}

// release lets the answers come.
func (c *colleague) release() {
	c.t.Helper()
	eval[any](c.window, `void release()`)
}

// drops lets somebody drop a file on the thread.
func (c *colleague) drops(name string) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void (() => {
		const d = new DataTransfer();
		d.items.add(new File(["a,b"], %q, { type: "text/csv" }));
		document.querySelector("[role=log]").dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true }));
	})()`, name))
	c.Find("button", "Remove "+name)
}

// changeOrganization changes the organization, as its operator does.
func (s *stage) changeOrganization(change func(*storage.Organization)) {
	s.t.Helper()
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		o, err := tx.OrganizationByID(s.tenant.Organization.ID)
		if err != nil {
			return err
		}
		change(&o)
		return tx.UpdateOrganization(&o)
	})
}

// hasPlan puts the organization on a plan.
func (s *stage) hasPlan(name string) {
	s.t.Helper()
	s.changeOrganization(func(o *storage.Organization) { o.Plan = name })
}

// What cannot be sent is kept and comes back, one thing after the other in one window.
func TestWhatIsNotSentIsKept(t *testing.T) {
	parallelBrowser(t)
	c := newDesk(t, storage.RoleAgent, func(c *config.Config) {
		small := c.Plans[config.SelfHosted]
		small.MonthlyMessages = 1
		c.Plans["small"] = small
	})
	c.opensTheComposerAgain()
	c.saysWhatCannotBeSent()
	c.keepsAttachedFiles()
	c.leavesAwayWhatAnotherTabTookAway()
	c.asksBeforeResolvingWhatWaits()
	c.mixesNoTexts()
	c.makesARefusedTextADraft()
	c.bringsARefusedReplyBackWhole()
	c.makesNoDraftOfWhatMayHaveBeenSent()
	c.waitsWithoutRoomInTheBrowser()
	c.isNotHeldUpByACallWithoutAnAnswer()
	c.calm("status of 404", "status of 403")
}

// Whoever waits for a plan to be raised or for the next month need not reload the page.
func (c *desk) opensTheComposerAgain() {
	s := c.stage
	c.meets("15550001111", "Ana Ruiz", textOf("hi"))
	s.hasPlan("small")
	send := func(text string) {
		c.Fill("textbox", "Message", text)
		c.Press(kb.Enter)
		c.state(text, "read")
	}
	send("The last one of this month")
	c.shows("Your plan’s messages for this month are used up.")
	c.Gone("textbox", "Message")

	storagetest.Exec(c.t, s.app.Config.DataDir, `DELETE FROM usage`) // as if it were the next one
	c.Find("textbox", "Message")
	send("The last one of the next month")
	c.shows("Your plan’s messages for this month are used up.")

	s.hasPlan(config.SelfHosted)
	c.Find("textbox", "Message")
}

// Files that were attached are kept with the draft: while nothing can be sent, and while
// another conversation is looked at.
func (c *desk) keepsAttachedFiles() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001113", "Bo Berg", textOf("Where is my invoice?"))
	s.says(number, "15550001114", "Cleo", textOf("hello"))
	c.drops("invoice.csv")
	c.Fill("textbox", "Message", "Here it is")

	s.restrict(number, true)
	c.shows("Your draft is kept: Here it is · invoice.csv")
	c.shoot("inbox-restricted-files")
	s.restrict(number, false)
	c.Find("button", "Remove invoice.csv")
	c.written("Here it is")

	c.openConversation("Cleo")
	c.Gone("button", "Remove invoice.csv")
	c.openConversation("Bo Berg")
	c.Find("button", "Remove invoice.csv")
	c.Click("button", "Resolve")
	c.Find("dialog", "Resolve with an unsent message?")
	c.Click("button", "Cancel")
	c.WaitFor(`document.querySelector(".attachment small") !== null`)
	c.Click("button", "Send")
	c.state("Here it is", "read")
	c.Gone("button", "Remove invoice.csv")
	sent := s.outbound(number, conversation)
	c.is.Equal(len(sent), 1)
	c.is.Equal(sent[0]["type"], "document")
}

// What another tab has taken away, because somebody signed out there, is not written back.
func (c *desk) leavesAwayWhatAnotherTabTookAway() {
	c.meets("15550001115", "Dan", textOf("hi"))
	c.is.Equal(eval[int](c.window, keptWords), 0)
	c.answerSends(400, "recipient_unavailable")
	c.Fill("textbox", "Message", "Never mind")
	c.Press(kb.Enter)
	c.WaitFor(`tries === 1`)
	eval[any](c.window, `void Object.keys(localStorage).filter(k => k.includes("outbox")).forEach(k => localStorage.removeItem(k))`)
	c.changedElsewhere()
	c.release()
	c.WaitFor(`document.querySelector("[id^=outbox]") === null`)
	eval[any](c.window, `new Promise((resolve) => setTimeout(resolve, 200))`)
	c.is.Equal(eval[int](c.window, keptWords), 0)
	c.written("")
	c.answered()
}

// Resolving asks while a message waits, but not for one that is sent this moment.
func (c *desk) asksBeforeResolvingWhatWaits() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001116", "Eva", textOf("Where is my parcel?"))
	c.answerSends(503, "unavailable")
	c.release()
	c.Fill("textbox", "Message", "It left this morning")
	c.Press(kb.Enter)
	c.state("It left this morning", "queued")
	c.Click("button", "Resolve")
	c.Find("dialog", "Resolve with an unsent message?")
	c.shows("Your message hasn’t been sent yet. This browser sends it as soon as it can.")
	c.shoot("inbox-resolve-waiting")
	c.Click("button", "Cancel")
	c.is.Equal(s.conversation(number, conversation)["status"], "open")

	c.answered()
	c.state("It left this morning", "read")
	c.answerSends(200, "")
	c.Fill("textbox", "Message", "It is there tomorrow")
	c.Press(kb.Enter)
	c.Gone("dialog", "Resolve with an unsent message?")
	// The second that it is given is longer here, because the server may be busy.
	eval[any](c.window, `void ((later) => {
		globalThis.setTimeout = (work, ms) => later(work, ms === 1000 ? 20_000 : ms);
		[...document.querySelectorAll("button")].find(b => b.textContent === "Resolve").click();
		later(() => (release(), globalThis.setTimeout = later), 200);
	})(setTimeout)`)
	c.Find("button", "Reopen")
	c.Gone("dialog", "Resolve with an unsent message?")
	c.state("It is there tomorrow", "read")
}

// What was refused is never mixed into what somebody has begun since.
func (c *desk) mixesNoTexts() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001117", "Finn", textOf("Where is my parcel?"))
	c.answerSends(400, "recipient_unavailable")
	c.Fill("textbox", "Message", "It left this morning")
	c.Press(kb.Enter)
	c.drops("invoice.csv")
	c.release()
	c.state("It left this morning", "failed")
	c.written("")
	c.Gone("button", "Edit")
	c.shoot("inbox-refused-beside")

	c.Click("button", "Remove invoice.csv")
	c.written("") // it comes only when it is asked for
	c.shoot("inbox-refused-edit")
	c.Click("button", "Edit")
	c.written("It left this morning")
	c.WaitFor(`document.querySelector("[id^=outbox]") === null`)
	c.answered()
	c.Click("button", "Send")
	c.state("It left this morning", "read")
	c.is.Equal(len(s.outbound(number, conversation)), 1)
}

// What was refused comes back with what it answers and when it was to be sent.
func (c *desk) bringsARefusedReplyBackWhole() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001119", "Hanna", textOf("Where is my parcel?"))
	c.answerSends(400, "recipient_unavailable")
	c.release()
	c.onArticle("Where is my parcel?", "Reply")
	c.Fill("textbox", "Message", "It left this morning")
	c.Click("button", "Send later")
	c.Click("button", "Tomorrow at 9")
	whole := func() {
		c.t.Helper()
		c.shows("Not sent: this number can’t be reached.")
		c.written("It left this morning")
		c.Find("button", "Cancel reply")
		c.Find("button", "Send now instead")
		c.WaitFor(`document.querySelector(".answered").textContent.includes("Where is my parcel?")`)
		c.WaitFor(`document.querySelector(".composer time") !== null`)
	}
	whole()
	c.shoot("inbox-refused-whole")
	c.Visit(s.app.URL() + "/console/inbox/" + conversation)
	whole()

	c.Click("button", "Send")
	c.state("It left this morning", "scheduled")
	c.WaitFor(`document.querySelector("[id^=outbox]") === null`)
	c.Gone("button", "Send now instead")
	c.Gone("button", "Cancel reply")
	sent := s.outbound(number, conversation)
	c.is.Equal(len(sent), 1)
	c.is.True(sent[0]["scheduled_at"] != nil)
	c.is.True(sent[0]["context"] != nil)
}

// What may have been sent is no draft: whoever sends it again should know.
func (c *desk) makesNoDraftOfWhatMayHaveBeenSent() {
	s, number := c.stage, c.number
	conversation := s.says(number, "15550001120", "Ida", textOf("Where is my parcel?"))
	leave := func(text string, hoursAgo int) {
		eval[any](c.window, fmt.Sprintf(`void (() => {
			const { user } = JSON.parse(document.body.dataset.start);
			const body = { messaging_product: "chat", to: "+15550001120", type: "text", text: { body: %q } };
			localStorage.setItem("confab.outbox." + user.id + "." + %[1]q, JSON.stringify({
				key: %[1]q, number: %[2]q, conversation: %[3]q, body, at: Date.now() - %[4]d * 3600e3, tried: true,
			}));
		})()`, text, number, conversation, hoursAgo))
	}
	unknown := func(text string) {
		c.t.Helper()
		c.state(text, "failed")
		c.article("This may already have been sent.")
		c.Find("button", "Send again")
		c.Gone("button", "Edit")
		c.written("")
	}

	// The server has forgotten its key.
	leave("It left yesterday", 25)
	c.Visit(s.app.URL() + "/console/inbox/" + conversation)
	unknown("It left yesterday")
	c.shoot("inbox-unknown")
	c.Click("button", "Remove")
	c.WaitFor(`document.querySelector("[id^=outbox]") === null`)

	// Or it did not look at the key.
	c.answerSends(403, "organization_suspended")
	c.release()
	leave("It left this morning", 1)
	eval[any](c.window, `void dispatchEvent(new StorageEvent("storage", { key: Object.keys(localStorage).find(k => k.includes("outbox")) }))`)
	unknown("It left this morning")
	c.Click("button", "Remove")
	c.answered()
}

// changedElsewhere tells the page that another tab has changed what waits to be sent.
func (c *colleague) changedElsewhere() {
	c.t.Helper()
	eval[any](c.window, `void dispatchEvent(new StorageEvent("storage", {
		key: "confab.outbox." + JSON.parse(document.body.dataset.start).user.id + ".other",
	}))`)
}

// Where the browser has no room left, a message waits as long as the page is there, whatever
// other tabs do.
func (c *desk) waitsWithoutRoomInTheBrowser() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001121", "Jon", textOf("hi"))
	s.says(number, "15550001122", "Kim", textOf("hello"))
	c.answerSends(503, "unavailable")
	c.release()
	eval[any](c.window, `void (globalThis.setItem = Storage.prototype.setItem, Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") })`)
	c.Fill("textbox", "Message", "Sent without room")
	c.Press(kb.Enter)
	c.WaitFor(`tries >= 1`)
	c.changedElsewhere()
	c.state("Sent without room", "queued")
	c.Fill("textbox", "Message", "Half a sente")
	c.openConversation("Kim")
	c.openConversation("Jon")
	c.written("Half a sente")
	c.answered()
	c.state("Sent without room", "read")
	c.is.Equal(len(s.outbound(number, conversation)), 1)
	eval[any](c.window, `void (Storage.prototype.setItem = setItem)`)
}

// A call that is never answered, as after a sleep, does not hold up what waits.
func (c *desk) isNotHeldUpByACallWithoutAnAnswer() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001123", "Lea", textOf("hi"))
	eval[any](c.window, `void ((real, timeout) => {
		AbortSignal.timeout = () => timeout.call(AbortSignal, 500);
		globalThis.fetch = (url, options) => {
			if (globalThis.lost || options?.method !== "POST" || !/\/messages$/.test(url)) return real(url, options);
			globalThis.lost = true;
			return new Promise((_, reject) => options.signal?.addEventListener("abort", () => reject(options.signal.reason)));
		};
	})(fetch, AbortSignal.timeout)`)
	c.Fill("textbox", "Message", "First")
	c.Press(kb.Enter)
	c.Fill("textbox", "Message", "Second")
	c.Press(kb.Enter)
	c.state("First", "read")
	c.state("Second", "read")
	c.is.Equal(len(s.outbound(number, conversation)), 2)
}
