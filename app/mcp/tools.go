package mcp

import (
	"context"

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

type runner func(context.Context, *Client, arguments) (any, error)

type parameter struct {
	name, description string
	isRequired        bool
	isStructured      bool // no text: parameters of a template
}

// Arguments that several tools take.
var (
	ofNumber = parameter{
		name: "phone_number_id", isRequired: true,
		description: "Id of the business number from list_numbers: all digits.",
	}
	ofConversation = parameter{name: "conversation_id", description: "Id of the conversation: cnv_…", isRequired: true}
	ofContact      = parameter{
		name: "contact_id", isRequired: true,
		description: "Id of the contact: ctc_…, from find_contact or list_conversations.",
	}
	ofCursor = parameter{name: "cursor", description: "next_cursor of the previous page."}
	ofKey    = parameter{
		name: "idempotency_key", isRequired: true,
		description: "A string of your choice, unique to this message, such as reply-cnv_…-1. " +
			"Repeating a call with the same key sends nothing twice and returns the same answer: do so when you are not sure " +
			"whether a call went through.",
	}
)

// tools are all tools, those that only read first.
var tools = []*tool{
	{
		name: "list_numbers", title: "List business numbers",
		description: "Lists the business numbers that messages are sent from, with their phone_number_id and status. " +
			"Use it first: nearly every other tool needs a phone_number_id. A number whose status is not connected cannot send.",
		takes: []parameter{ofCursor}, run: listOf("accounts", asItIs[number], nil),
	},
	{
		name: "list_conversations", title: "List conversations",
		description: "Lists the conversations of a number, newest message first, each with its contact, status, " +
			"assignee, unread count and last message. Use it to see who wrote recently or who is waiting for a reply " +
			"(unread_count above 0). To find one person by name or number use find_contact instead.",
		takes: []parameter{
			ofNumber,
			{name: "contact_id", description: "Only those with this contact: ctc_…"},
			{name: "label_id", description: "Only those with this label: lbl_…"},
			{name: "user_id", description: "Only those assigned to this colleague; none for unassigned ones."},
			ofCursor,
		},
		run: listOf("conversations", theirConversation.shape,
			filters{"label_id": "label_id", "user_id": "assigned_to", "contact_id": "contact_id"}),
	},
	{
		name: "read_conversation", title: "Read a conversation",
		description: "Shows a conversation and its messages, newest first; pass next_cursor of messages as cursor for older ones. " +
			"Use it before replying. Free text can be sent until service_window_expires_at.",
		takes: []parameter{ofNumber, ofConversation, ofCursor}, run: readConversation,
	},
	{
		name: "search_messages", title: "Search messages",
		description: "Finds messages of a number by their words, newest first. Every word must occur; the last one may be the " +
			"beginning of a word; quotes make a phrase. Not for people: use find_contact for names and numbers.",
		takes: []parameter{
			ofNumber,
			{name: "query", description: `Words to look for, such as: invoice "next week"`, isRequired: true},
			ofCursor,
		},
		run: listOf("messages", theirMessage.shape, filters{"query": "search"}),
	},
	{
		name: "find_contact", title: "Find a contact",
		description: "Finds contacts of a number by part of their name, phone number, username or email address. " +
			"To find what they wrote, use search_messages.",
		takes: []parameter{
			ofNumber,
			{name: "query", description: "Part of a name or number, such as: ana, or 1555", isRequired: true},
			ofCursor,
		},
		run: listOf("contacts", theirContact.shape, filters{"query": "search"}),
	},
	{
		name: "list_templates", title: "List templates",
		description: "Lists the message templates of a number with their text and parameters. Templates can be sent at any time, " +
			"but only if their status is approved.",
		takes: []parameter{ofNumber, ofCursor}, run: listOf("templates", theirTemplate.shape, nil),
	},
	{
		name: "list_deliveries", title: "List webhook deliveries",
		description: "Lists deliveries of events to the organization's own webhook endpoints, newest first, with status " +
			"(pending, succeeded, failed, dead) and the endpoint's HTTP status. Use it to see why one of their systems got no event. " +
			"Not for messages to customers.",
		takes: []parameter{ofCursor}, run: listOf("webhook_deliveries", asItIs[delivery], nil),
	},
	{
		name: "send_text", title: "Send a text",
		description: "Sends a text to an existing contact. Only within 24 hours after the contact's last message; otherwise use " +
			"send_template. Show the text to the user first unless told to send without asking.",
		takes: []parameter{
			ofNumber, ofContact,
			{name: "text", description: "The text, up to 4,096 characters.", isRequired: true},
			ofKey,
		},
		run: sendText, isWrite: true, isRepeat: true,
	},
	{
		name: "send_template", title: "Send a template",
		description: "Sends an approved template to an existing contact, at any time. list_templates has the names, " +
			"languages and parameters.",
		takes: []parameter{
			ofNumber, ofContact,
			{name: "template", description: "Name of the template.", isRequired: true},
			{name: "language", description: "Its language code, such as en_US.", isRequired: true},
			{
				name: "parameters", isStructured: true,
				description: `Values of the body's variables: a list of strings in order, such as ["Ana", "42"], ` +
					`or an object for named ones, such as {"name": "Ana"}. A template with variables in its header or buttons ` +
					`takes the list of components of the API instead.`,
			},
			ofKey,
		},
		run: sendTemplate, isWrite: true, isRepeat: true,
	},
	{
		name: "label_contact", title: "Label a contact",
		description: "Adds a label to a contact. Adding it twice changes nothing.",
		takes:       []parameter{ofNumber, ofContact, {name: "label_id", description: "Id of the label: lbl_…", isRequired: true}},
		run:         labelContact, isWrite: true, isRepeat: true,
	},
	{
		name: "assign_conversation", title: "Assign a conversation",
		description: "Assigns a conversation to a colleague, who is then responsible for it.",
		takes:       []parameter{ofNumber, ofConversation, {name: "user_id", description: "Id of the colleague.", isRequired: true}},
		run:         changeConversation("assigned_to", func(a arguments) string { return a.text("user_id") }),
		isWrite:     true, isRepeat: true,
	},
	{
		name: "resolve_conversation", title: "Resolve a conversation",
		description: "Marks a conversation as resolved. It reopens when the customer writes.",
		takes:       []parameter{ofNumber, ofConversation},
		run:         changeConversation("status", func(arguments) string { return "resolved" }),
		isWrite:     true, isRepeat: true,
	},
	{
		name: "snooze_conversation", title: "Snooze a conversation",
		description: "Hides a conversation from the open ones until a time, or until the customer writes. It cannot be resolved.",
		takes: []parameter{
			ofNumber, ofConversation,
			{name: "snoozed_until", description: "When it comes back, within a year, such as 2026-01-05T08:00:00Z.", isRequired: true},
		},
		run:     changeConversation("snoozed_until", func(a arguments) string { return a.text("snoozed_until") }),
		isWrite: true, isRepeat: true,
	},
	{
		name: "add_note", title: "Add a note",
		description: "Writes a note into a conversation, for the colleagues who work on it. The customer never sees it.",
		takes: []parameter{
			ofNumber, ofConversation,
			{name: "text", description: "The note, up to 4,096 characters.", isRequired: true},
		},
		run: addNote, isWrite: true,
	},
	{
		name: "hand_over", title: "Hand a conversation over",
		description: "Hands a conversation to a colleague, or with no user_id to nobody, so that you no longer hold it. " +
			"Use it when a person should go on, and say why in note.",
		takes: []parameter{
			ofNumber, ofConversation,
			{name: "user_id", description: "Id of the colleague who holds it from now on; absent for nobody."},
			{name: "note", description: "What the colleague should know. The customer never sees it."},
		},
		run: handOver, isWrite: true, isRepeat: true,
	},
	{
		name: "replay_delivery", title: "Replay a webhook delivery",
		description: "Sends an event to its webhook endpoint again, as a new delivery. Use it once the endpoint works again.",
		takes:       []parameter{{name: "delivery_id", description: "Id of the delivery: wbd_…", isRequired: true}},
		run:         replayDelivery, isWrite: true,
	},
}

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

	return &mcp.Tool{
		Name:        t.name,
		Title:       t.title,
		Description: t.description,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{
			Title:           t.title,
			ReadOnlyHint:    !t.isWrite,
			DestructiveHint: new(false),
			IdempotentHint:  t.isRepeat,
			OpenWorldHint:   new(false),
		},
	}
}
