package main

import (
	"fmt"
	"slices"
	"time"

	"confab/app/tools/rig"
)

// sourceConsole is the source of a message that a person sent.
const sourceConsole = "console"

// auditConsoles compares what each browser shows with the stored rows, once those had time to
// arrive: the top of the list, and the thread that is open.
func (t *trial) auditConsoles(r *report) error {
	for _, c := range t.colleagues {
		for what, differ := range map[string]func() (string, error){"list": c.differsInList, "thread": c.differsInThread} {
			difference, err := lastDifference(differ)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if difference != "" {
				r.discrepancy("the "+what+" of %s: %s", c.name, difference)
			}
		}
		r.steps += c.steps
	}

	r.browsers = len(t.colleagues)
	return nil
}

// lastDifference looks until there is no difference any more, and returns the one left after
// a minute.
func lastDifference(differ func() (string, error)) (difference string, err error) {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(300 * time.Millisecond) {
		if difference, err = differ(); err != nil || difference == "" {
			break
		}
	}
	return difference, err
}

// shownConversation is a row of the list.
type shownConversation struct {
	ID     string
	Unread int
	Labels int
}

// comparedRows is how many rows of the list are compared.
const comparedRows = 20

// differsInList says how the list of a page differs from the stored one, "" if it does not.
func (c *colleague) differsInList() (string, error) {
	shown, err := rig.Evaluate[[]shownConversation](c.Page, `[...document.querySelectorAll("[aria-label=Conversations] li")].map(li => ({
		ID: li.querySelector("a").dataset.conversation, Unread: Number(li.querySelector("b.count")?.textContent ?? 0),
		Labels: li.querySelectorAll(".dot").length }))`)
	if err != nil {
		return "", err
	}

	var stored []struct {
		ID     string `json:"id"`
		Unread int    `json:"unread_count"`
		Labels []any  `json:"labels"`
	}
	if err := c.tenant.get("/"+c.tenant.number+"/conversations?limit=100", &stored); err != nil {
		return "", err
	}
	for i, one := range stored[:min(comparedRows, len(stored))] {
		want := shownConversation{one.ID, one.Unread, len(one.Labels)}
		if i >= len(shown) {
			return fmt.Sprintf("row %d is missing, %+v", i, want), nil
		}
		if shown[i] != want {
			return fmt.Sprintf("row %d is %+v, stored is %+v", i, shown[i], want), nil
		}
	}
	return "", nil
}

// shownMessage is a message of a thread.
type shownMessage struct{ ID, State string }

// shownThread is the thread that is open.
type shownThread struct {
	Conversation string
	Waiting      string
	Messages     []shownMessage
}

// differsInThread says how the thread that is open differs from the stored one.
func (c *colleague) differsInThread() (string, error) {
	shown, err := rig.Evaluate[shownThread](c.Page, `({
		Conversation: location.pathname.split("/")[3] ?? "", 
		Waiting: Object.keys(localStorage).filter(key => key.startsWith("confab.outbox.")).map(key => localStorage.getItem(key)).join(),
		Messages: [...document.querySelectorAll("[role=log] article")].map(a => ({
			ID: a.id, State: a.querySelector(".tick .unseen")?.textContent ?? "" })) })`)
	if err != nil {
		return "", err
	}
	if shown.Waiting != "" {
		return "what was sent waits in the page: " + shown.Waiting, nil
	}
	if shown.Conversation == "" {
		return "", nil // none is open
	}

	var stored []row
	path := "/" + c.tenant.number + "/messages?limit=20&conversation_id=" + shown.Conversation
	if err := c.tenant.get(path, &stored); err != nil {
		return "", err
	}
	for _, m := range stored {
		want := shownMessage{ID: m.ID}
		if m.Direction == "outbound" {
			want.State = m.Status
		}
		if m.Type != "reaction" && !slices.Contains(shown.Messages, want) {
			return fmt.Sprintf("%+v is not in %s, which shows %+v", want, shown.Conversation, shown.Messages), nil
		}
	}
	return "", nil
}

// auditTyped checks that what people sent in browsers is there, each once.
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
			if there[text] != 1 {
				o.discrepancy("%q, which %s sent, is there %d times", text, c.name, there[text])
			}
		}
	}
	if len(there) > all {
		o.discrepancy("%d messages are of people, who sent %d", len(there), all)
	}
	o.report.typed += all
}
