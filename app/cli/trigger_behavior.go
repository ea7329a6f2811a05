package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/simulator"
)

func movedClock() simCommand {
	return simCommand{
		use:   "clock",
		short: "Show the sandbox's clock, or move it ahead",
		long: "Show the clock of the sandbox, or move it ahead by --advance, for the simulator and the server together. What\n" +
			"becomes due starts at once, in order: windows close, retries and later sends go out, snoozed conversations\n" +
			"wake, old data is deleted. It never goes back, and at most 400 days ahead in all; --fresh starts over.",
		example: "  confab trigger clock\n  confab trigger clock --advance 25h\n  confab trigger clock --advance 30d --json",
		flags:   []simFlag{{name: "advance", usage: "move it ahead by this `duration`, such as 90m, 25h or 30d", parse: requiredText}},
		call:    "POST /_sim/clock",
		complete: func(r *simRequest) error {
			if r.fields["advance"] == nil {
				r.method = "GET"
			}
			return nil
		},
		print: func(r *simRequest) error { // of a move also how many jobs it started
			var c answer
			if err := r.send(&c); err != nil {
				return err
			}

			offset, _ := c["offset_ms"].(float64)
			fields := [][]string{{"now", c.text("now")}, {"moved ahead", (time.Duration(offset) * time.Millisecond).String()}}
			if c["started"] != nil {
				fields = append(fields, []string{"jobs started", c.text("started")})
			}
			return printOne(r.cmd, c, fields)
		},
	}
}

func simulatorSettings() simCommand {
	return simCommand{
		use:   "settings [NAME=VALUE…]",
		short: "Show or change how the simulator behaves",
		long: "Show how the simulator behaves, or change it: how many milliseconds after a send it is sent, delivered and\n" +
			"read (null means never), whether the 24-hour window and rate limits apply, how templates are reviewed.",
		example: "  confab trigger settings\n" +
			"  confab trigger settings auto_read=true delivered_ms=2000\n" +
			"  confab trigger settings template_verdict=REJECTED service_window=false messages_per_second=0",

		args: func(_ *cobra.Command, args []string) error {
			_, err := parseAssignments(args)
			return err
		},
		call:  "GET /_sim/settings",
		print: printSettings,
	}
}

// printSettings reads the settings, changes those that the arguments name, and prints all.
func printSettings(r *simRequest) error {
	var now map[string]any
	if err := r.send(&now); err != nil {
		return err
	}
	if changes, _ := parseAssignments(r.args); len(changes) > 0 {
		if err := checkAssignments(changes, now); err != nil {
			return err
		}
		if err := r.do(r.cmd.Context(), "PATCH", "/_sim/settings", changes, &now); err != nil {
			return err
		}
	}

	var fields [][]string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		fields = append(fields, []string{name, strings.Trim(shortJSON(now[name]), `"`)})
	}
	return printOne(r.cmd, now, fields)
}

// parseAssignments reads arguments of the form name=value. What is not valid JSON is text.
func parseAssignments(args []string) (map[string]any, error) {
	changes := map[string]any{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", arg)
		}

		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		changes[name] = value
	}
	return changes, nil
}

// checkAssignments refuses names that are no settings, and what is not true or false for a switch.
func checkAssignments(changes, now map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		current, known := now[name]
		if !known {
			return usage("unknown setting %s: must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(now)), ", "))
		}
		_, wantsBool := current.(bool)
		if _, isBool := changes[name].(bool); wantsBool && !isBool {
			return usage("%s must be true or false", name)
		}
	}
	return nil
}

func injectedFault() simCommand {
	return simCommand{
		use:   "fault [FAULT]",
		short: "Make calls to the provider fail",
		long: "Make calls to the provider fail, and print the fault's id. Without flags, the next send is answered with an\n" +
			"HTTP 500. The kinds of fault, and what each does to a call:\n\n" +
			describeFaultKinds() + "\n" +
			"Set the code with --code; with --async it is reported by callback, after a successful answer.\n\n" +
			"--clear removes all faults, or only FAULT if its id is given.",
		example: "  confab trigger fault\n" +
			"  confab trigger fault --code 131026 --async --to +15550001111\n" +
			"  confab trigger fault --kind timeout --times 3\n" +
			"  confab trigger fault --kind http_500 --endpoint all --probability 0.1\n" +
			"  confab trigger fault --list\n" +
			"  confab trigger fault --clear",

		flags: faultFlags(),
		call:  "POST /_sim/faults",
		complete: func(r *simRequest) error {
			usual := simulator.FaultServerError
			if r.fields["code"] != nil {
				usual = simulator.FaultErrorCode
			}
			r.fields["kind"] = cmp.Or(r.fields["kind"], any(usual))
			return refuseFaultID(r)
		},
		print: func(r *simRequest) error {
			var made answer
			if err := r.send(&made); err != nil {
				return err
			}
			maps.Copy(made, r.fields)
			return printNew(r.cmd, made.text("id"), made)
		},
		instead: []simCommand{{
			use: "list", short: "list the active faults instead", call: "GET /_sim/faults",
			complete: refuseFaultID,
			print: printTable([]string{"ID", "KIND", "CODE", "ENDPOINT", "TIMES", "PROBABILITY", "TO"}, func(f answer) []string {
				return []string{
					f.text("id"), f.text("kind"), f.text("code"), f.text("endpoint"), cmp.Or(f.text("times"), "forever"),
					f.text("probability"), displayNumber(f.text("to")),
				}
			}),
		}, {
			use: "clear", short: "remove faults instead", call: "DELETE /_sim/faults",
			complete: func(r *simRequest) error {
				r.path += "?id=" + url.QueryEscape(r.argument())
				return nil
			},
		}},
	}
}

// describeFaultKinds lists the kinds of fault, one a line, with what they do.
func describeFaultKinds() string {
	var b strings.Builder
	for _, kind := range simulator.FaultKinds() {
		fmt.Fprintf(&b, "  %-16s %s\n", kind.Name, kind.Description)
	}
	return b.String()
}

func faultFlags() []simFlag {
	var kinds []string
	for _, kind := range simulator.FaultKinds() {
		kinds = append(kinds, kind.Name)
	}
	endpoints := simulator.FaultEndpoints()

	return []simFlag{
		{name: "kind", parse: oneOf(kinds...),
			usage: "`kind` of failure (default " + simulator.FaultServerError + ", or " + simulator.FaultErrorCode + " with --code)"},
		{name: "endpoint", parse: oneOf(endpoints...),
			usage: "`endpoint` whose calls fail: " + strings.Join(endpoints, ", ") + " (default messages)"},
		{name: "times", parse: integer,
			usage: "`number` of calls that fail; 0 means forever (default 1, or forever with --probability)"},
		{name: "probability", usage: "`share` of the calls that fail, from 0 to 1", parse: decimal},
		{name: "code", usage: "the provider's error `code`, such as 131047", parse: errorCode},
		{name: "async", usage: "report the code by callback, after a successful answer", isBool: true},
		{name: "to", usage: "only sends to this `number`"},
		{name: "phone-number-id", usage: "only calls for the business number with this `id`"},
	}
}

// refuseFaultID refuses the argument, which only --clear has.
func refuseFaultID(r *simRequest) error {
	if len(r.args) > 0 {
		return usage("FAULT needs --clear")
	}
	return nil
}
