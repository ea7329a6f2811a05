package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"confab/app/simulator"
)

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
		flags:    faultFlags(),
		call:     "POST /_sim/faults",
		complete: completeFault,
		print:    printNewFault,
		instead: []simCommand{{
			use: "list", short: "list the active faults instead", call: "GET /_sim/faults",
			complete: refuseFaultID, print: printFaults(),
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
		{name: "kind", choices: kinds,
			usage: "`kind` of failure (default " + simulator.FaultServerError + ", or " + simulator.FaultErrorCode + " with --code)"},
		{name: "endpoint", choices: endpoints,
			usage: "`endpoint` whose calls fail: " + strings.Join(endpoints, ", ") + " (default messages)"},
		{name: "times", kind: integerField,
			usage: "`number` of calls that fail; 0 means forever (default 1, or forever with --probability)"},
		{name: "probability", usage: "`share` of the calls that fail, from 0 to 1", kind: shareField},
		{name: "code", usage: "the provider's error `code`, such as 131047", kind: codeField},
		{name: "async", usage: "report the code by callback, after a successful answer", kind: boolField},
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

func completeFault(r *simRequest) error {
	usual := simulator.FaultServerError
	if r.fields["code"] != nil {
		usual = simulator.FaultErrorCode
	}
	r.fields["kind"] = cmp.Or(r.fields["kind"], any(usual))
	return refuseFaultID(r)
}

// printNewFault sets a fault and prints its id, or with --json all of it.
func printNewFault(r *simRequest) error {
	var made answer
	if err := r.send(&made); err != nil {
		return err
	}
	maps.Copy(made, r.fields)
	return printNew(r.cmd, made.text("id"), made)
}

func printFaults() func(*simRequest) error {
	heading := []string{"ID", "KIND", "CODE", "ENDPOINT", "TIMES", "PROBABILITY", "TO"}
	return printTable(heading, func(f answer) []string {
		return []string{
			f.text("id"), f.text("kind"), f.text("code"), f.text("endpoint"), cmp.Or(f.text("times"), "forever"), f.text("probability"),
			displayNumber(f.text("to")),
		}
	})
}
