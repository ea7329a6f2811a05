package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool: what it is for, what it takes, and what runs it.
type tool struct {
	name, title, description string
	takes                    []parameter
	run                      runner
	isWrite                  bool // it changes something
	isRepeat                 bool // a write that may be repeated without another effect
}

// runner calls the API for a tool.
type runner func(context.Context, *Client, arguments) (any, error)

// parameter is an argument that a tool takes.
type parameter struct {
	name, description string
	isRequired        bool
	isStructured      bool // no text: parameters of a template
}

// Arguments that several tools take.
var (
	ofNumber = parameter{
		name: "phone_number_id", isRequired: true,
		description: "The business number, as list_numbers has it: all digits.",
	}
	ofConversation = parameter{name: "conversation_id", description: "Id of the conversation: cnv_…", isRequired: true}
	ofContact      = parameter{
		name: "contact_id", isRequired: true,
		description: "Id of the contact: ctc_…, as find_contact or list_conversations has it.",
	}
	ofCursor = parameter{name: "cursor", description: "next_cursor of the page before, for the next page."}
	ofKey    = parameter{
		name: "idempotency_key", isRequired: true,
		description: "A text of your own, unique for this message, such as reply-cnv_…-1. " +
			"A repeat with the same key sends nothing again and answers the same: use it when you are not sure " +
			"whether a call went through.",
	}
)

// tools are all tools, those that only read first.
var tools = []*tool{
	{
		name: "list_numbers", title: "List business numbers",
		description: "Lists the business numbers that messages are sent from, with their phone_number_id and status. " +
			"Use it first: nearly every other tool wants a phone_number_id. A number whose status is not connected cannot send.",
		takes: []parameter{ofCursor}, run: listOf("accounts", asItIs[number], nil),
	},
	{
		name: "list_conversations", title: "List conversations",
		description: "Lists the conversations of a number, the one with the newest message first, each with its contact, status, " +
			"assignee, unread count and last message. Use it to see who wrote lately or who waits for an answer " +
			"(unread_count above 0). To find one person by name or number use find_contact instead.",
		takes: []parameter{
			ofNumber,
			{name: "contact_id", description: "Only those with this contact: ctc_…"},
			{name: "label_id", description: "Only those with this label: lbl_…"},
			{name: "user_id", description: "Only those assigned to this colleague; none for those that nobody has."},
			ofCursor,
		},
		run: listOf("conversations", theirConversation.shape,
			filters{"label_id": "label_id", "user_id": "assigned_to", "contact_id": "contact_id"}),
	},
	{
		name: "read_conversation", title: "Read a conversation",
		description: "Shows a conversation and its messages, newest first; pass next_cursor of messages as cursor for older ones. " +
			"Use it before answering. service_window_expires_at says until when free text can be sent.",
		takes: []parameter{ofNumber, ofConversation, ofCursor}, run: readConversation,
	},
	{
		name: "search_messages", title: "Search messages",
		description: "Finds messages of a number by words in them, newest first. Every word must occur, the last one may be the " +
			"beginning of a word, quotes make a phrase. Not for people: use find_contact for names and numbers.",
		takes: []parameter{
			ofNumber,
			{name: "query", description: `Words to look for, such as: invoice "next week"`, isRequired: true},
			ofCursor,
		},
		run: listOf("messages", theirMessage.shape, filters{"query": "search"}),
	},
	{
		name: "find_contact", title: "Find a contact",
		description: "Finds contacts of a number by a part of their name, phone number, username or e-mail address. " +
			"Not for what they wrote: use search_messages for that.",
		takes: []parameter{
			ofNumber,
			{name: "query", description: "Part of a name or number, such as: ana, or 1555", isRequired: true},
			ofCursor,
		},
		run: listOf("contacts", theirContact.shape, filters{"query": "search"}),
	},
	{
		name: "list_templates", title: "List templates",
		description: "Lists the message templates of a number with their text and parameters. Templates can be sent at any time; " +
			"only those whose status is approved can be sent.",
		takes: []parameter{ofNumber, ofCursor}, run: listOf("templates", theirTemplate.shape, nil),
	},
	{
		name: "list_deliveries", title: "List webhook deliveries",
		description: "Lists deliveries of events to the organization's own webhook endpoints, newest first, with status " +
			"(pending, succeeded, failed, dead) and the endpoint's HTTP status. Use it to see why a system of theirs got no event. " +
			"Not about messages to customers.",
		takes: []parameter{ofCursor}, run: listOf("webhook_deliveries", asItIs[delivery], nil),
	},
	{
		name: "send_text", title: "Send a text",
		description: "Sends a text to a contact that exists. Only within 24 hours after the contact's last message; otherwise use " +
			"send_template. Show the text to the user first unless told to send by yourself.",
		takes: []parameter{
			ofNumber, ofContact,
			{name: "text", description: "The text, up to 4,096 characters.", isRequired: true},
			ofKey,
		},
		run: sendText, isWrite: true, isRepeat: true,
	},
	{
		name: "send_template", title: "Send a template",
		description: "Sends an approved template to a contact that exists, at any time. list_templates has the names, " +
			"languages and parameters.",
		takes: []parameter{
			ofNumber, ofContact,
			{name: "template", description: "Name of the template.", isRequired: true},
			{name: "language", description: "Its language code, such as en_US.", isRequired: true},
			{
				name: "parameters", isStructured: true,
				description: `Values of the body's variables: a list of texts in their order, such as ["Ana", "42"], ` +
					`or an object for named ones, such as {"name": "Ana"}. A template with variables in its header or buttons ` +
					`takes the list of components of the API instead.`,
			},
			ofKey,
		},
		run: sendTemplate, isWrite: true, isRepeat: true,
	},
	{
		name: "label_contact", title: "Label a contact",
		description: "Puts a label on a contact. Doing it twice changes nothing.",
		takes:       []parameter{ofNumber, ofContact, {name: "label_id", description: "Id of the label: lbl_…", isRequired: true}},
		run:         labelContact, isWrite: true, isRepeat: true,
	},
	{
		name: "assign_conversation", title: "Assign a conversation",
		description: "Gives a conversation to a colleague, who is then responsible for it.",
		takes:       []parameter{ofNumber, ofConversation, {name: "user_id", description: "Id of the colleague.", isRequired: true}},
		run:         changeConversation("assigned_to", func(a arguments) string { return a.text("user_id") }),
		isWrite:     true, isRepeat: true,
	},
	{
		name: "resolve_conversation", title: "Resolve a conversation",
		description: "Marks a conversation as resolved. It opens again by itself when the customer writes.",
		takes:       []parameter{ofNumber, ofConversation},
		run:         changeConversation("status", func(arguments) string { return "resolved" }),
		isWrite:     true, isRepeat: true,
	},
	{
		name: "replay_delivery", title: "Replay a webhook delivery",
		description: "Sends an event to its webhook endpoint again, as a new delivery. Use it after the endpoint was repaired.",
		takes:       []parameter{{name: "delivery_id", description: "Id of the delivery: wbd_…", isRequired: true}},
		run:         replayDelivery, isWrite: true,
	},
}

// describe is the tool as clients read it.
func (t *tool) describe() *mcp.Tool {
	properties, required := make(map[string]any), []string{}
	for _, p := range t.takes {
		property := map[string]any{"type": "string", "description": p.description}
		if p.isStructured {
			property["type"] = []string{"array", "object"}
		}
		properties[p.name] = property
		if p.isRequired {
			required = append(required, p.name)
		}
	}

	no := false
	return &mcp.Tool{
		Name:        t.name,
		Title:       t.title,
		Description: t.description,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{
			Title:           t.title,
			ReadOnlyHint:    !t.isWrite,
			DestructiveHint: &no,
			IdempotentHint:  t.isRepeat,
			OpenWorldHint:   &no,
		},
	}
}

// takesNames lists what the tool takes.
func (t *tool) takesNames() string {
	names := make([]string, len(t.takes))
	for i, p := range t.takes {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}
