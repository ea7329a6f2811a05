package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"confab/app/simulator"
)

// templateCommands play the provider's review of templates.
func templateCommands() []simCommand {
	return []simCommand{{
		use:   "template-review [TEMPLATE]",
		short: "Approve or reject a template, as the provider",
		long: "Approve or reject a template, as the provider, by its name or id, and print that. Without one, the newest\n" +
			"template that is waiting for review is used.",
		example: "  confab trigger template-review\n" +
			"  confab trigger template-review spring_offer --status rejected --reason INVALID_FORMAT",

		flags: []simFlag{
			{name: "status", usage: "`verdict`: approved, rejected, paused, disabled, … (default approved)"},
			{name: "reason", usage: "`reason` for a rejection, such as INVALID_FORMAT"},
		},
		call: "POST /_sim/templates/{template}/review",
		complete: func(r *simRequest) error {
			r.fields["status"] = cmp.Or(r.fields["status"], any("APPROVED"))
			return nil
		},
		print: printAction,
	}, {
		use:   "template-category TEMPLATE",
		short: "Move a template to another category, as the provider",
		long: "Move a template to another category, as the provider, by its name or id; with --at, announce it for then.\n" +
			"The category decides the price.",
		example: "  confab trigger template-category spring_offer --category utility\n" +
			"  confab trigger template-category spring_offer --category utility --at 2026-12-01T00:00:00Z",

		flags: []simFlag{
			{name: "category", usage: "`category`: marketing, utility or authentication"},
			{name: "at", usage: "announce it for this `time`"},
		},
		call:  "POST /_sim/templates/{template}/category",
		print: printAction,
	}}
}

// newestPending is the id of the template that was submitted last and is not reviewed yet.
func (c *simulatorClient) newestPending(ctx context.Context) (string, error) {
	id, err := c.latest(ctx, "/_sim/templates", func(t answer) bool { return t.text("status") == "PENDING" })
	if err == nil && id == "" {
		err = errors.New("no template is waiting for review: choose one by name or id")
	}
	return id, err
}

func providerCalls() simCommand {
	return simCommand{
		use:   "calls",
		short: "List calls to the provider with its answers, newest first",
		long: "List the latest calls to the provider with its answers, newest first, or the callbacks that it posted. With\n" +
			"--json the bodies are shown as sent, without tokens.",
		example: "  confab trigger calls\n  confab trigger calls --direction given --json",

		flags: []simFlag{{name: "direction", usage: "calls from the app, callbacks, or both: `asked|given|all` (default asked)",
			parse: oneOf("asked", "given", "all"), initial: "asked"}},
		call: "GET /_sim/calls",
		print: printTable([]string{"AT", "STATUS", "MS", "CALL"}, func(c answer) []string {
			return []string{
				c.text("created_at"), c.text("status"), fmt.Sprintf("%.1f", c["duration_ms"]), c.text("method") + " " + c.text("path"),
			}
		}),
	}
}

// objectCommands are about the business numbers, and about the simulator itself.
func objectCommands() []simCommand {
	return []simCommand{{
		use:   "numbers",
		short: "List business numbers, or add one",
		long: "List the simulator's business numbers, or with --add create one and print its id; missing values are\n" +
			"generated. With the id of an existing number, that number is changed.",
		example: "  confab trigger numbers\n  confab trigger numbers --add --name 'Second Shop' --status PENDING",

		flags: []simFlag{
			{name: "phone-number-id", usage: "`id` of the number"},
			{name: "waba-id", usage: "`id` of its account"},
			{name: "number", field: "display_phone_number", usage: "the `number` itself"},
			{name: "name", field: "verified_name", usage: "`name` of the business"},
			{name: "status", usage: "`state`: CONNECTED, PENDING, BANNED, …"},
			{name: "pin", usage: "`PIN` of two-step verification"},
			{name: "on-biz-app", field: "is_on_biz_app", usage: "the number is also used in the app on a phone", isBool: true},
		},
		call: "GET /_sim/numbers",
		print: printTable([]string{"ID", "NUMBER", "NAME", "STATUS", "ACCOUNT"}, func(n simulator.Number) []string {
			return []string{n.PhoneNumberID, n.DisplayPhoneNumber, n.VerifiedName, n.Status, n.WABAID}
		}),
		instead: []simCommand{{
			use: "add", short: "add or change a number", call: "POST /_sim/numbers",
			print: printAnswer(func(n simulator.Number) string { return n.PhoneNumberID }),
		}},
	}, {
		use:   "callback FILE",
		short: "Post a custom callback, signed",
		long: "Post any callback once, signed and encoded as the provider does, and print the HTTP status of the answer. FILE\n" +
			"contains the payload as JSON; - is standard input.",
		example: "  confab trigger callback payload.json\n" +
			"  echo '{\"object\": \"whatsapp_business_account\", \"entry\": []}' | confab trigger callback -",

		call: "POST /_sim/callbacks",
		complete: func(r *simRequest) error { // the body is what the file has, byte for byte
			text, err := readFileOrStdin(r.cmd.InOrStdin(), r.args[0])
			if err == nil && !json.Valid(text) {
				err = fmt.Errorf("%s is not JSON", r.args[0])
			}
			r.raw = json.RawMessage(text)
			return err
		},
		print: printField("status"),
		plain: true,
	}, {
		use:   "reset",
		short: "Clear messages, people, faults and settings",
		long: "Clear messages, people, faults, settings and undelivered callbacks, for example between two tests. Numbers,\n" +
			"templates, media and tokens stay.",
		example: "  confab trigger reset",
		call:    "POST /_sim/reset",
		plain:   true,
	}}
}
