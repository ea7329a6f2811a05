package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// summary is the most informative text of a message's content.
func summary(kind string, request jsonObject) string {
	content, _ := request[kind].(jsonObject)
	for _, key := range []string{"body", "name", "caption", "emoji", "filename", "link"} {
		if text, ok := content[key].(string); ok {
			return text
		}
	}

	// The body of an interactive message is an object.
	body, _ := content["body"].(jsonObject)
	return answer(body).text("text")
}

// displayNumber puts the + before a phone number. A user id stays as it is.
func displayNumber(s string) string {
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return "+" + s
	}
	return s
}

// latest is the id of the last thing that fits in a list of the simulator; "" if none does.
func (c *simulatorClient) latest(ctx context.Context, path string, fits func(answer) bool) (id string, err error) {
	var list struct{ Data []answer } // oldest first
	err = c.do(ctx, "GET", path, nil, &list)
	for _, one := range list.Data {
		if fits(one) {
			id = one.text("id")
		}
	}
	return id, err
}

// latestSend is the id of the last message that the business sent; "" if there is none.
func (c *simulatorClient) latestSend(ctx context.Context) (string, error) {
	return c.latest(ctx, "/_sim/messages?direction=outbound", func(answer) bool { return true })
}

// latestInbound is the id of a person's last message that can be edited: no reaction, no edit.
func (c *simulatorClient) latestInbound(ctx context.Context) (string, error) {
	id, err := c.latest(ctx, "/_sim/messages?direction=inbound", func(m answer) bool {
		return !slices.Contains([]string{"reaction", "edit", "revoke"}, m.text("type"))
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
		print: printTable([]string{"CREATED", "TO", "TYPE", "STATUS", "CONTENT", "ID"}, func(m answer) []string {
			kind := m.text("type")
			request, _ := m["request"].(jsonObject)
			return []string{
				m.text("created_at"), displayNumber(m.text("to")), kind, m.text("status"),
				truncate(summary(kind, request)), m.text("id"),
			}
		}),
		instead: []simCommand{{use: "forget", short: "forget all messages instead", call: "DELETE /_sim/messages"}},
	}
}

// printAction makes a call that changes a status, and prints what was changed.
func printAction(r *simRequest) error {
	if err := r.send(nil); err != nil {
		return err
	}

	done := jsonObject{"id": r.target}
	for _, name := range []string{"status", "category"} {
		if value, ok := r.fields[name]; ok {
			done[name] = fmt.Sprint(value)
		}
	}
	return printNew(r.cmd, r.target, done)
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
				name:  "status",
				usage: "`status` to report: sent, delivered, read, played or failed (default read, or failed with --code)",
				parse: oneOf("sent", "delivered", "read", "played", "failed"),
			},
			{name: "code", field: "error_code", usage: "provider's error `code` for a failure, such as 131026", parse: errorCode},
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
		print:   printField("id"),
	}
}

func messageEdit() simCommand {
	const sample = "I meant something else"
	c := correction("edit", "Edit a person's message")
	c.example += "\n  confab trigger edit wamid.HBgL… --text 'Tomorrow at ten'"
	c.flags = []simFlag{{name: "text", usage: "the new `text` (default " + sample + ")", parse: requiredText, initial: sample}}
	return c
}
