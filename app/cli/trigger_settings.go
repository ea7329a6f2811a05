package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func movedClock() simCommand {
	return simCommand{
		use:   "clock",
		short: "Show the sandbox's clock, or move it ahead",
		long: "Show the clock of the sandbox, or move it ahead by --advance, for the simulator and the server together. What\n" +
			"becomes due starts at once, in order: windows close, retries and later sends go out, snoozed conversations\n" +
			"wake, old data is deleted. It never goes back, and at most 400 days ahead in all; --fresh starts over.",
		example: "  confab trigger clock\n  confab trigger clock --advance 25h\n  confab trigger clock --advance 30d --json",
		flags:   []simFlag{{name: "advance", usage: "move it ahead by this `duration`, such as 90m, 25h or 30d", kind: requiredTextField}},
		call:    "POST /_sim/clock",
		complete: func(r *simRequest) error {
			if r.fields["advance"] == nil {
				r.method = "GET"
			}
			return nil
		},
		print: printClock,
	}
}

// printClock prints what the clock says, and of a move how many jobs it started.
func printClock(r *simRequest) error {
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
		value, err := json.Marshal(now[name])
		if err != nil {
			return err
		}
		fields = append(fields, []string{name, strings.Trim(string(value), `"`)})
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
