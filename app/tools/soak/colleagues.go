package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"confab/app/tools/rig"
)

// colleague is somebody at the console of a tenant, in a real browser. What happens on the
// page happens by script, as a person would do it: a missing button is not pressed.
type colleague struct {
	*rig.Page
	tenant *tenant
	name   string

	typed []string // texts that were sent, each another
}

// How many people are at the console of the first tenant, and in how many browsers each is.
const peopleAtConsole, browsersEach = 2, 2

const password = "a horse that is correct"

// openConsoles invites people to the console and opens it in a browser for each, if there
// is one on this machine.
func (t *trial) openConsoles() {
	path := rig.FindWindowless()
	if path == "" || !t.people {
		return
	}

	o := t.tenants[0]
	for i := range peopleAtConsole {
		name, email := fmt.Sprint("Person ", i), fmt.Sprintf("person.%d@example.com", i)
		link := t.server.Command("users", "invite", "--org", o.org, "--name", name, "--email", email)
		for n := range browsersEach {
			c := &colleague{Page: rig.OpenPage(path, rig.Yielding), tenant: o, name: fmt.Sprintf("%s in browser %d", name, n)}
			rig.Cleanup(c.Close)
			t.colleagues = append(t.colleagues, c)
			form, fields := "/console/sign-in", map[string]string{"email": email, "password": password}
			if n == 0 { // an invited user chooses a password first
				form, fields = link[strings.Index(link, "/console/"):], map[string]string{"name": name, "password": password}
			}
			rig.Within(c.name, func() { c.enter(form, fields) })
		}
	}
}

func (c *colleague) enter(path string, fields map[string]string) {
	c.Visit(c.tenant.trial.server.URL() + path)
	script := ""
	for id, value := range fields {
		script += fmt.Sprintf(`document.getElementById(%q).value = %q;`, id, value)
	}
	rig.Evaluate[any](c.Page, `void (() => {`+script+` document.querySelector("form").requestSubmit() })()`)
	c.WaitFor(`location.pathname.startsWith("/console/inbox")`)
	c.Visit(c.tenant.trial.server.URL() + "/console/inbox?tab=all")
	c.WaitFor(`document.querySelector("[aria-label=Conversations]") !== null || document.querySelector("h2, h1") !== null`)
}

// work keeps doing what people do, at random. The server may be down meanwhile: a page then
// says so, and goes on by itself.
func (c *colleague) work(ctx context.Context) {
	rig.Within(c.name, func() {
		repeat(ctx, 200, 1000, func(int) {
			switch rand.IntN(6) {
			case 0, 1:
				c.press(fmt.Sprintf(`document.querySelectorAll("[aria-label=Conversations] a")[%d]`, rand.IntN(8)))
			case 2, 3:
				c.answer()
			case 4:
				c.press(`[...document.querySelectorAll("button")].find(b => ["Resolve", "Reopen"].includes(b.textContent.trim()))`)
			case 5:
				c.label()
			}
		})
	})
}

func (c *colleague) press(expression string) {
	rig.Evaluate[any](c.Page, `void (`+expression+`)?.click()`)
}

// answer writes something, and sends it if the composer is there. A sent message is kept by
// the page until the server has it.
func (c *colleague) answer() {
	text := fmt.Sprintf("By hand %016x.", rand.Uint64())
	isSent := rig.Evaluate[bool](c.Page, fmt.Sprintf(`(async () => {
		const area = document.querySelector("textarea[aria-label=Message], textarea");
		if (!area || area.disabled || area.value) return false;
		area.value = %q;
		area.dispatchEvent(new Event("input", { bubbles: true }));
		area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
		for (let n = 0; n < 100 && area.value; n++) await new Promise(done => setTimeout(done, 20));
		return area.value === "";
	})()`, text))
	if isSent {
		c.typed = append(c.typed, text)
	}
}

func (c *colleague) label() {
	rig.Evaluate[any](c.Page, `(async () => {
		const pressed = name => [...document.querySelectorAll("button")].find(b => (b.ariaLabel || b.textContent.trim()) === name);
		const off = pressed("Remove label seen");
		if (off) return void off.click();
		const add = pressed("Add label");
		if (!add) return;
		add.click();
		await new Promise(done => setTimeout(done, 100));
		document.querySelector("[role=group][aria-label=Labels] input, fieldset input[type=checkbox]")?.click();
		add.click();
	})()`)
}

// auditConsoles compares what each browser shows with the stored rows, once those had a minute to
// arrive: the top of the list, and the thread that is open.
func (t *trial) auditConsoles(r *report) {
	for _, c := range t.colleagues {
		differs := func() string { return cmp.Or(c.differsInList(), c.differsInThread()) }
		rig.Within(c.name, func() {
			for began := time.Now(); differs() != "" && time.Since(began) < time.Minute; {
				time.Sleep(300 * time.Millisecond)
			}
			if difference := differs(); difference != "" {
				r.discrepancy("%s: %s", c.name, difference)
			}
		})
	}
}

// differsInList says how the list of a page differs from the stored one, "" if it does not.
func (c *colleague) differsInList() string {
	shown := rig.Evaluate[[]string](c.Page, `[...document.querySelectorAll("[aria-label=Conversations] li")].map(li =>
		li.querySelector("a").dataset.conversation + ", unread: " + (li.querySelector("b.count")?.textContent ?? 0)
		+ ", labels: " + li.querySelectorAll(".dot").length)`)

	var stored []struct {
		ID     string `json:"id"`
		Unread int    `json:"unread_count"`
		Labels []any  `json:"labels"`
	}
	c.tenant.get("/"+c.tenant.number+"/conversations?limit=100", &stored)
	for i, one := range stored[:min(20, len(stored))] {
		want := fmt.Sprintf("%s, unread: %d, labels: %d", one.ID, one.Unread, len(one.Labels))
		if i >= len(shown) || shown[i] != want {
			return fmt.Sprintf("row %d of the list should be %s, shown are %q", i, want, shown)
		}
	}
	return ""
}

// differsInThread says how the thread that is open differs from the stored one.
func (c *colleague) differsInThread() string {
	shown := rig.Evaluate[struct {
		Conversation, Waiting string
		Messages              []string
	}](c.Page, `({
		Conversation: location.pathname.split("/")[3] ?? "",
		Waiting: Object.keys(localStorage).filter(key => key.startsWith("confab.outbox.")).map(key => localStorage.getItem(key)).join(),
		Messages: [...document.querySelectorAll("[role=log] article")].map(a =>
			a.id + " " + (a.querySelector(".tick .unseen")?.textContent ?? "")) })`)
	if shown.Waiting != "" {
		return "what was sent waits in the page: " + shown.Waiting
	}
	if shown.Conversation == "" {
		return "" // none is open
	}

	var stored []row
	c.tenant.get("/"+c.tenant.number+"/messages?limit=20&conversation_id="+shown.Conversation, &stored)
	for _, m := range stored {
		want := m.ID + " "
		if m.Direction == "outbound" {
			want += m.Status
		}
		if m.Type != "reaction" && !slices.Contains(shown.Messages, want) {
			return fmt.Sprintf("%s is not in %s, which shows %q", want, shown.Conversation, shown.Messages)
		}
	}
	return ""
}

func (o *tenantAudit) auditTyped() {
	there := make(map[string]int)
	for _, m := range o.rows {
		if m.Source == sourceConsole {
			there[m.Text.Body]++
		}
	}

	all := 0
	for _, c := range o.trial.colleagues {
		if c.tenant != o.tenant {
			continue
		}
		for _, text := range c.typed {
			all++
			o.expect(there[text] == 1, "%q, which %s sent, is there %d times", text, c.name, there[text])
		}
	}
	o.expect(len(there) <= all, "%d messages are of people, who sent %d", len(there), all)
}
