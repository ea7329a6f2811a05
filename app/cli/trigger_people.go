package cli

import (
	"fmt"
	"strings"
)

// contactCommands change what the provider knows of a person.
func contactCommands() []simCommand {
	return []simCommand{{
		use:   "preferences [PERSON]",
		short: "Stop or resume marketing messages for a person",
		long: "Stop or resume marketing messages for a person. PERSON is a number or BSUID; without it, " + samplePersonName + "\n" +
			"(" + samplePerson + ") is used. While stopped, marketing templates to them fail with 131050.",
		example: "  confab trigger preferences --marketing stop\n  confab trigger preferences +15550002222 --marketing resume",

		flags: []simFlag{{name: "marketing", usage: "the person's choice: `stop|resume` (default stop)",
			parse: oneOf("stop", "resume"), initial: "stop"}},
		call: "POST /_sim/contacts/{person}/preferences",
		print: func(r *simRequest) error {
			if err := r.send(nil); err != nil {
				return err
			}
			return printNew(r.cmd, fmt.Sprint(r.fields["marketing"]), r.fields)
		},
	}, {
		use:   "identity [PERSON]",
		short: "Give a person a new number or user id",
		long: "Give a person a new business-scoped user id, which also changes with a new number, and print it. PERSON is a\n" +
			"number or BSUID; without it, " + samplePersonName + " (" + samplePerson + ") is used.",
		example: "  confab trigger identity\n  confab trigger identity +15550001111 --phone-number +15550003333",

		flags: []simFlag{
			{name: "bsuid", usage: "the new user `id` (default: generated)"},
			{name: "phone-number", usage: "the new `number`"},
		},
		call:  "POST /_sim/contacts/{person}/identity",
		print: printField("bsuid"),
	}}
}

// peopleCommands list and make people.
func peopleCommands() []simCommand {
	return []simCommand{{
		use:     "people",
		short:   "List the simulated people",
		example: "  confab trigger people",

		call: "GET /_sim/people",
		print: printTable([]string{"NUMBER", "NAME", "USERNAME", "MARKETING", "BLOCKED", "24 H WINDOW"}, func(p answer) []string {
			window := "closed"
			if windows, _ := p["windows"].(jsonObject); len(windows) > 0 {
				window = "open"
			}
			return []string{
				p.number(), p.text("name"), p.text("username"), p.text("marketing"), yesOrNo(p["blocked"] == true), window,
			}
		}),
	}, {
		use:   "person [PERSON]",
		short: "Create or change a person",
		long: "Create a person with a phone, or change one, and print the number. PERSON is a number or BSUID; without it, a\n" +
			"new number is generated. A person who blocks you gets no more messages; without read receipts, you don't see\n" +
			"what they read.",
		example: "  confab trigger person --name 'Bo Lind'\n  confab trigger person +15550001111 --blocked\n" +
			"  confab trigger person +15550001111 --read-receipts=false",

		flags: []simFlag{
			{name: "name", usage: "`name` in the profile", parse: anyText},
			{name: "username", usage: "`username`", parse: anyText},
			{name: "blocked", usage: "block the business", isBool: true},
			{name: "read-receipts", usage: "send read receipts (default true)", isBool: true},
		},
		call: "POST /_sim/people",
		complete: func(r *simRequest) error {
			for _, given := range r.args {
				key := "phone_number"
				if strings.ContainsAny(given[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") { // a BSUID begins with a country
					key = "bsuid"
				}
				r.fields[key] = given
			}
			return nil
		},
		print: printAnswer(answer.number),
	}}
}

// phoneCommands show a person's phone, and let the person use it.
func phoneCommands() []simCommand {
	return []simCommand{{
		use:   "phone [PERSON]",
		short: "Show the messages on a person's phone, oldest first",
		long: "Show the messages on a person's phone, oldest first, with the ticks that the person sees. PERSON is a number or\n" +
			"BSUID; without it, " + samplePersonName + " (" + samplePerson + ") is used. In a sandbox, the console shows the same phone.",
		example: "  confab trigger phone\n  confab trigger phone +15550002222 --json",

		call: "GET /_sim/people/{person}/messages",
		print: printTable([]string{"AT", "WHO", "TYPE", "TICKS", "CONTENT", "ID"}, func(m answer) []string {
			who := "business"
			if m.text("direction") == "inbound" {
				who = "person"
			}
			return []string{m.text("created_at"), who, m.text("type"), m.text("ticks"), truncate(phoneSummary(m)), m.text("id")}
		}),
	}, {
		use:   "read [PERSON]",
		short: "Read messages on a person's phone",
		long: "Read all messages on a person's phone, and print how many were reported as read. PERSON is a number or\n" +
			"BSUID; without it, " + samplePersonName + " (" + samplePerson + ") is used.",
		example: "  confab trigger read",
		call:    "POST /_sim/people/{person}/read",
		print:   printField("read"),
	}, {
		use:   "window [PERSON]",
		short: "Open or close a person's 24-hour window",
		long: "Open or close the 24-hour window for free-form messages to a person, in the simulator and in the sandbox's\n" +
			"server. PERSON is a number or BSUID; without it, " + samplePersonName + " (" + samplePerson + ") is used.",
		example: "  confab trigger window --state closed\n  confab trigger window +15550002222 --state open",

		flags: []simFlag{
			{name: "state", usage: "new state of the window: `open|closed` (default closed)",
				parse: oneOf("open", "closed"), initial: "closed"},
			{name: "phone-number-id", usage: "`id` of the business number (default: all)"},
		},
		call: "POST /_sim/contacts/{person}/window",
		print: func(r *simRequest) error {
			state := fmt.Sprint(r.fields["state"])
			r.fields["open"] = state == "open"
			return printAnswer(func(answer) string { return state })(r)
		},
	}}
}

// phoneSummary is what a message on a phone says, in a line.
func phoneSummary(m answer) string {
	if m["deleted"] == true {
		return "(deleted)"
	}
	if card, ok := m["card"].(jsonObject); ok {
		return answer(card).text("body")
	}
	return summary(m.text("type"), jsonObject(m))
}
