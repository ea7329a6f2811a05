package e2e

import (
	"github.com/chromedp/chromedp/kb"
)

// Buttons and lists are made in the composer or come with a quick reply, and go out with the text.
func (c *desk) sendsButtonsAndLists() {
	s, number := c.stage, c.number
	conversation := c.meets("15550001112", "Ida Holm", textOf("hi"))
	defer s.quickReply(`{"shortcut":"size","text":"Which size?","interactive":{"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"s","title":"Small"}}]}}}`)()

	sent := func(n int) map[string]any {
		c.t.Helper()
		s.becomesTrue(func() bool { return len(s.outbound(number, conversation)) == n })
		return s.outbound(number, conversation)[0]["interactive"].(map[string]any)
	}
	c.Click("button", "Buttons")
	c.Find("dialog", "Buttons")
	c.shoot("inbox-buttons")
	c.Fill("textbox", "Button 1", "Yes")
	c.Fill("textbox", "Button 2", "No")
	c.Click("button", "Add to message")
	c.Gone("dialog", "Buttons")
	c.shows("Yes · No")
	c.Fill("textbox", "Message", "Shall we?")
	c.shoot("inbox-with-buttons")
	c.Press(kb.Enter)
	made := sent(1)
	c.is.Equal(made["body"], map[string]any{"text": "Shall we?"})
	c.is.Equal(len(made["action"].(map[string]any)["buttons"].([]any)), 2)
	c.state("Shall we?", "read")

	c.Click("button", "List")
	c.Fill("textbox", "Button that opens the list", "Choose")
	c.Fill("textbox", "Rows", "Red | like a rose\nA colour that has far too long a name")
	c.Click("button", "Add to message")
	c.shows("Rows: at most 24 characters each, and 72 for a description.")
	c.Fill("textbox", "Rows", "Red | like a rose\nBlue")
	c.Click("button", "Add to message")
	c.Gone("dialog", "List")
	c.Fill("textbox", "Message", "Which colour?")
	c.Press(kb.Enter)
	rows := sent(2)["action"].(map[string]any)["sections"].([]any)[0].(map[string]any)["rows"]
	c.is.Equal(rows, []any{map[string]any{"id": "1", "title": "Red", "description": "like a rose"}, map[string]any{"id": "2", "title": "Blue"}})

	c.Focus("textbox", "Message")
	c.Press("/", "s", "i", "z")
	c.WaitFor(`document.querySelectorAll("[role=option]").length === 1`)
	c.Press(kb.Enter)
	c.written("Which size?")
	c.Find("button", "Remove buttons")
	c.Press(kb.Enter)
	sent(3)
	c.Gone("button", "Remove buttons")
}

// Somebody who is asked for their number shares it with a tap, and the contact has it.
func (c *desk) asksForANumber() {
	s, number := c.stage, c.number
	c.meets("15550001113", "Max Berg", textOf("hi"))
	s.call("POST", s.app.URL()+"/v1/"+number+"/messages",
		`{"messaging_product":"chat","to":"+15550001113","type":"interactive","interactive":{"type":"request_contact_info","body":{"text":"May we call you?"},"action":{"name":"request_contact_info"}}}`)
	c.shows("May we call you?")
	c.shows("Share contact info")
}
