package cli

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/simulator"
)

// fault is a failure that the simulator injects, as its control API has it.
type fault struct {
	ID            string   `json:"id,omitempty"`
	Kind          string   `json:"kind"`
	Code          int      `json:"code,omitempty"`
	Async         bool     `json:"async,omitempty"`
	Endpoint      string   `json:"endpoint,omitempty"`
	Times         *int     `json:"times,omitempty"`
	Probability   *float64 `json:"probability,omitempty"`
	To            string   `json:"to,omitempty"`
	PhoneNumberID string   `json:"phone_number_id,omitempty"`
}

func (t *trigger) fault() *cobra.Command {
	var (
		f                   fault
		list, clear, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "fault [FAULT]",
		Short: "Let calls to the provider fail",
		Long: "Let calls to the provider fail, and print the fault's id. Without flags the next send is answered with an\n" +
			"HTTP 500. The kinds of fault, and what each does with a call:\n\n" +
			describeFaultKinds() + "\n" +
			"The code is given with --code; with --async it is reported by callback, after a good answer.\n\n" +
			"With --clear all faults are removed, with the id of a FAULT only that one.",
		Example: "  confab trigger fault\n" +
			"  confab trigger fault --code 131026 --async --to +15550001111\n" +
			"  confab trigger fault --kind timeout --times 3\n" +
			"  confab trigger fault --kind http_500 --endpoint all --probability 0.1\n" +
			"  confab trigger fault --list\n" +
			"  confab trigger fault --clear",
		Args: arguments("[FAULT]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			switch {
			case clear:
				return c.do(cmd.Context(), "DELETE", "/_sim/faults?id="+url.QueryEscape(append(args, "")[0]), nil, nil)
			case len(args) > 0:
				return usage("a FAULT is only named with --clear")
			case list:
				return c.listFaults(cmd, asJSON)
			}

			if f.Kind == "" && f.Code != 0 {
				f.Kind = simulator.FaultErrorCode
			} else if f.Kind == "" {
				f.Kind = simulator.FaultServerError
			}

			var answer createdAnswer
			if err := c.do(cmd.Context(), "POST", "/_sim/faults", f, &answer); err != nil {
				return err
			}

			f.ID = answer.ID
			return printNew(cmd, asJSON, f.ID, f)
		}),
	}

	f.addFlags(cmd)

	cmd.Flags().BoolVar(&list, "list", false, "list the faults that are set instead")
	cmd.Flags().BoolVar(&clear, "clear", false, "remove faults instead")
	cmd.MarkFlagsMutuallyExclusive("list", "clear")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// describeFaultKinds lists the kinds of fault, one a line, with what they do.
func describeFaultKinds() string {
	var b strings.Builder
	for _, kind := range simulator.FaultKinds() {
		fmt.Fprintf(&b, "  %-16s %s\n", kind.Name, kind.Description)
	}
	return b.String()
}

func (f *fault) addFlags(cmd *cobra.Command) {
	var kinds []string
	for _, kind := range simulator.FaultKinds() {
		kinds = append(kinds, kind.Name)
	}
	endpoints := simulator.FaultEndpoints()

	parsedFlag(cmd, &f.Kind, "kind",
		"`kind` of failure (default "+simulator.FaultServerError+", or "+simulator.FaultErrorCode+" with --code)",
		parseChoice(kinds...))
	parsedFlag(cmd, &f.Endpoint, "endpoint",
		"`endpoint` whose calls fail: "+strings.Join(endpoints, ", ")+" (default messages)",
		parseChoice(endpoints...))

	const times = "`number` of calls that fail; 0 is for ever (default 1, or for ever with --probability)"
	parsedFlag(cmd, &f.Times, "times", times, func(s string) (*int, error) {
		n, err := strconv.Atoi(s)
		return &n, err
	})
	parsedFlag(cmd, &f.Probability, "probability", "`share` of the calls that fail, from 0 to 1", func(s string) (*float64, error) {
		share, err := strconv.ParseFloat(s, 64)
		return &share, err
	})

	cmd.Flags().IntVar(&f.Code, "code", 0, "the provider's error `code`, such as 131047")
	cmd.Flags().BoolVar(&f.Async, "async", false, "report the code by callback, after a good answer")
	cmd.Flags().StringVar(&f.To, "to", "", "only sends to this `number`")
	cmd.Flags().StringVar(&f.PhoneNumberID, "phone-number-id", "", "only calls for the business number with this `id`")
}

func (c *simulatorClient) listFaults(cmd *cobra.Command, asJSON bool) error {
	var answer struct {
		Data []fault `json:"data"`
	}
	if err := c.do(cmd.Context(), "GET", "/_sim/faults", nil, &answer); err != nil {
		return err
	}

	heading := []string{"ID", "KIND", "CODE", "ENDPOINT", "TIMES", "PROBABILITY", "TO"}
	return printList(cmd, asJSON, answer.Data, heading, func(f fault) []string {

		times, share, code := "for ever", "", ""
		if f.Times != nil {
			times = strconv.Itoa(*f.Times)
		}
		if f.Probability != nil {
			share = fmt.Sprint(*f.Probability)
		}
		if f.Code != 0 {
			code = strconv.Itoa(f.Code)
		}

		return []string{f.ID, f.Kind, code, f.Endpoint, times, share, displayNumber(f.To)}
	})
}
