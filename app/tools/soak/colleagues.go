package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"confab/app/tools/rig"
)

// colleague is somebody at the console of a tenant, in a real browser. What happens on the
// page happens by script, as a person would do it: a missing button is not pressed.
type colleague struct {
	*rig.Page
	tenant *tenant
	name   string

	typed []string // texts that were sent, each another
	steps int
}

// How many people are at the console of the first tenant, and in how many browsers each is.
const peopleAtConsole, browsersEach = 2, 2

// password is that of everybody.
const password = "a horse that is correct"

// openConsoles invites people to the console and opens it in a browser for each, if there
// is one on this machine.
func (t *trial) openConsoles(context.Context) error {
	path := rig.FindWindowless()
	if path == "" || !t.people {
		return nil
	}

	o := t.tenants[0]
	for i := range peopleAtConsole {
		name, email := fmt.Sprint("Person ", i), fmt.Sprintf("person.%d@example.com", i)
		link, err := t.server.Command("users", "invite", "--org", o.org, "--name", name, "--email", email)
		if err != nil {
			return err
		}
		for n := range browsersEach {
			page, err := rig.OpenPage(path)
			if err != nil {
				return err
			}
			c := &colleague{Page: page, tenant: o, name: fmt.Sprintf("%s in browser %d", name, n)}
			t.colleagues = append(t.colleagues, c)
			form, fields := "/console/sign-in", map[string]string{"email": email, "password": password}
			if n == 0 { // an invited user chooses a password first
				form, fields = link[strings.Index(link, "/console/"):], map[string]string{"name": name, "password": password}
			}
			if err := c.enter(form, fields); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// enter fills in the form at a path, and goes to the inbox.
func (c *colleague) enter(path string, fields map[string]string) error {
	if err := c.Visit(c.tenant.trial.server.URL() + path); err != nil {
		return err
	}
	script := ""
	for id, value := range fields {
		script += fmt.Sprintf(`document.getElementById(%q).value = %q;`, id, value)
	}
	if _, err := rig.Evaluate[any](c.Page, `void (() => {`+script+` document.querySelector("form").requestSubmit() })()`); err != nil {
		return err
	}
	if err := c.WaitFor(`location.pathname.startsWith("/console/inbox")`); err != nil {
		return err
	}
	if err := c.Visit(c.tenant.trial.server.URL() + "/console/inbox?tab=all"); err != nil {
		return err
	}
	return c.WaitFor(`document.querySelector("[aria-label=Conversations]") !== null || document.querySelector("h2, h1") !== null`)
}

// work keeps doing what people do, at random. The server may be down meanwhile: a page then
// says so, and goes on by itself.
func (c *colleague) work(ctx context.Context, random *rand.Rand) error {
	return repeat(ctx, random, 200, 1000, func(int) (err error) {
		switch random.IntN(6) {
		case 0, 1:
			err = c.openConversation(random)
		case 2, 3:
			err = c.answer(random)
		case 4:
			err = c.press(`[...document.querySelectorAll("button")].find(b => ["Resolve", "Reopen"].includes(b.textContent.trim()))`)
		case 5:
			err = c.label()
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.steps++
		return nil
	})
}

// press clicks on something, if it is there.
func (c *colleague) press(expression string) error {
	_, err := rig.Evaluate[any](c.Page, `void (`+expression+`)?.click()`)
	return err
}

// openConversation opens one of those at the top of the list.
func (c *colleague) openConversation(random *rand.Rand) error {
	return c.press(fmt.Sprintf(`document.querySelectorAll("[aria-label=Conversations] a")[%d]`, random.IntN(8)))
}

// answer writes something, and sends it if the composer is there. A sent message is kept by
// the page until the server has it.
func (c *colleague) answer(random *rand.Rand) error {
	text := fmt.Sprintf("By hand %016x.", random.Uint64())
	isSent, err := rig.Evaluate[bool](c.Page, fmt.Sprintf(`(async () => {
		const area = document.querySelector("textarea[aria-label=Message], textarea");
		if (!area || area.disabled || area.value) return false;
		area.value = %q;
		area.dispatchEvent(new Event("input", { bubbles: true }));
		area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
		for (let n = 0; n < 100 && area.value; n++) await new Promise(done => setTimeout(done, 20));
		return area.value === "";
	})()`, text))
	if err == nil && isSent {
		c.typed = append(c.typed, text)
	}
	return err
}

// label takes the tenant's label off a contact, or puts it on.
func (c *colleague) label() error {
	_, err := rig.Evaluate[any](c.Page, `(async () => {
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
	return err
}
