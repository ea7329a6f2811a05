package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
)

// message is a message that the simulator keeps. Request has its content: of a
// send what the business posted, of an inbound message what the callback carried.
type message struct {
	ID            string         `json:"id"`
	PhoneNumberID string         `json:"phone_number_id"`
	To            string         `json:"to"`
	Type          string         `json:"type"`
	Request       map[string]any `json:"request"`
	Status        string         `json:"status"`
	CreatedAt     string         `json:"created_at"`
}

// inbound reports whether a person wrote it: only callbacks have this field.
func (m message) inbound() bool { return m.Request["from_user_id"] != nil }

// summary is the most informative text of a message's content.
func (m message) summary() string {
	content, _ := m.Request[m.Type].(map[string]any)
	for _, key := range []string{"body", "name", "caption", "emoji", "filename", "link"} {
		if text, ok := content[key].(string); ok {
			return text
		}
	}

	// The body of an interactive message is an object.
	if body, ok := content["body"].(map[string]any); ok {
		text, _ := body["text"].(string)
		return text
	}
	return ""
}

// eachMessage calls f for each message that the simulator keeps, oldest first. It
// decodes them one by one, because there may be very many.
func (c *simulatorClient) eachMessage(ctx context.Context, filters url.Values, f func(message)) error {
	return c.request(ctx, "GET", "/_sim/messages?"+filters.Encode(), c.ControlToken, nil, func(body io.Reader) error {
		in := json.NewDecoder(body)
		for range 3 { // the tokens { "data" [
			if _, err := in.Token(); err != nil {
				return err
			}
		}

		for in.More() {
			var m message
			if err := in.Decode(&m); err != nil {
				return err
			}
			f(m)
		}
		return nil
	})
}

// latestSend is the id of the last message that the business sent; "" if there is none.
func (c *simulatorClient) latestSend(ctx context.Context) (id string, err error) {
	err = c.eachMessage(ctx, nil, func(m message) {
		if !m.inbound() {
			id = m.ID
		}
	})
	return id, err
}

// latestInbound is the id of the last message of a person that can be edited: a reaction
// cannot, nor can an edit.
func (c *simulatorClient) latestInbound(ctx context.Context) (id string, err error) {
	err = c.eachMessage(ctx, url.Values{"direction": {"inbound"}}, func(m message) {
		if m.inbound() && !slices.Contains([]string{"reaction", "edit", "revoke"}, m.Type) {
			id = m.ID
		}
	})
	if err == nil && id == "" {
		err = errors.New("no message from a person was found: give the id that 'confab trigger inbound' printed")
	}
	return id, err
}

func sentMessages() simCommand {
	return simCommand{
		use:   "messages",
		short: "List sent messages, oldest first",
		example: "  confab trigger messages\n" +
			"  confab trigger messages --to +15550001111 --type template --json\n" +
			"  confab trigger messages --forget",
		flags: []simFlag{
			{name: "to", usage: "only to this `number` or BSUID"},
			{name: "type", usage: "only messages of this `type`"},
			{name: "phone-number-id", usage: "only from the business number with this `id`"},
			{name: "biz-opaque-callback-data", usage: "only with this `text` in that field"},
		},
		call: "GET /_sim/messages",
		print: printTable([]string{"CREATED", "TO", "TYPE", "STATUS", "CONTENT", "ID"}, func(m message) []string {
			return []string{m.CreatedAt, displayNumber(m.To), m.Type, m.Status, truncate(m.summary()), m.ID}
		}),
		instead: []simCommand{{use: "forget", short: "forget all messages instead", call: "DELETE /_sim/messages"}},
	}
}

// createdAnswer is the simulator's answer to a call that created something.
type createdAnswer struct {
	ID string `json:"id"`
}

func (a createdAnswer) id() string { return a.ID }

// actionView is the result of a command that changes the status of a message or
// template.
type actionView struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
}

// printAction makes a call that changes a status, and prints what was changed.
func printAction(r *simRequest) error {
	if err := r.send(nil); err != nil {
		return err
	}
	return printNew(r.cmd, r.target, actionView{ID: r.target, Status: fmt.Sprint(r.fields["status"])})
}

func messageStatus() simCommand {
	return simCommand{
		use:   "status [MESSAGE]",
		short: "Report a status for a sent message",
		long: "Report a status for a sent message by callback, in any order and as often as you like, and print the\n" +
			"message's id. MESSAGE is the provider's id (wamid.…); without it, the latest sent message is used.",
		example: "  confab trigger status --status read\n  confab trigger status wamid.HBgL… --status failed --code 131026",
		flags: []simFlag{
			{
				name:    "status",
				usage:   "`status` to report: sent, delivered, read, played or failed (default read, or failed with --code)",
				choices: []string{"sent", "delivered", "read", "played", "failed"},
			},
			{name: "code", field: "error_code", usage: "provider's error `code` for a failure, such as 131026", kind: codeField},
		},
		call: "POST /_sim/messages/{sent}/status",
		complete: func(r *simRequest) error {
			usual := "read"
			if r.fields["error_code"] != nil {
				usual = "failed"
			}
			r.fields["status"] = cmp.Or(r.fields["status"], any(usual))
			return nil
		},
		print: printAction,
	}
}

// correction is a command by which a person edits or revokes an earlier message. Its verb
// is also the last part of the path in the control API.
func correction(verb, short string) simCommand {
	return simCommand{
		use:   verb + " [MESSAGE]",
		short: short,
		long: short + ", and print the id of the message that reports it. MESSAGE is an id printed by\n" +
			"'confab trigger inbound'; without it, the latest message from a person is used. With the id of a sent message\n" +
			"or an echo, the business does so on its phone.",
		example: "  confab trigger " + verb,
		call:    "POST /_sim/messages/{message}/" + verb,
		print:   printAnswer(createdAnswer.id),
	}
}

func messageEdit() simCommand {
	const sample = "I meant something else"
	c := correction("edit", "Edit a person's message")
	c.example += "\n  confab trigger edit wamid.HBgL… --text 'Tomorrow at ten'"
	c.flags = []simFlag{{name: "text", usage: "the new `text` (default " + sample + ")", kind: requiredTextField, initial: sample}}
	return c
}
