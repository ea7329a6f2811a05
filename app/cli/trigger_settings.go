package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (t *trigger) settings() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "settings [NAME=VALUE…]",
		Short: "Show or change how the simulator behaves",
		Long: "Show how the simulator behaves, or change it: how many milliseconds after a send it is sent, delivered and\n" +
			"read (null is never), whether the 24-hour window and the rate limits hold, how templates are reviewed.",
		Example: "  confab trigger settings\n" +
			"  confab trigger settings auto_read=true delivered_ms=2000\n" +
			"  confab trigger settings template_verdict=REJECTED service_window=false messages_per_second=0",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := parseAssignments(args)
			return err
		},
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			method, body := "GET", any(nil)
			if changes, _ := parseAssignments(args); len(changes) > 0 {
				method, body = "PATCH", changes
			}

			var now map[string]any
			if err := c.do(cmd.Context(), method, "/_sim/settings", body, &now); err != nil {
				return err
			}

			var fields [][]string
			for _, name := range slices.Sorted(maps.Keys(now)) {
				value, err := json.Marshal(now[name])
				if err != nil {
					return err
				}
				fields = append(fields, []string{name, strings.Trim(string(value), `"`)})
			}
			return printOne(cmd, asJSON, now, fields)
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

// parseAssignments reads name=value; a value that is no JSON is a text.
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

// numberView is a business number as the simulator shows it.
type numberView struct {
	PhoneNumberID          string `json:"phone_number_id,omitempty"`
	WABAID                 string `json:"waba_id,omitempty"`
	DisplayPhoneNumber     string `json:"display_phone_number,omitempty"`
	VerifiedName           string `json:"verified_name,omitempty"`
	Status                 string `json:"status,omitempty"`
	PIN                    string `json:"pin,omitempty"`
	CodeVerificationStatus string `json:"code_verification_status,omitempty"`
	IsOnBizApp             bool   `json:"is_on_biz_app"`
}

func (t *trigger) numbers() *cobra.Command {
	var (
		n           numberView
		add, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "numbers",
		Short: "List business numbers, or add one",
		Long: "List the simulator's business numbers, or with --add make one, of which all that is not given is made up, and\n" +
			"print its id. With the id of one that exists, it is changed.",
		Example: "  confab trigger numbers\n  confab trigger numbers --add --name 'Second Shop' --status PENDING",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			if add {
				var now numberView
				if err := c.do(cmd.Context(), "POST", "/_sim/numbers", n, &now); err != nil {
					return err
				}
				return printNew(cmd, asJSON, now.PhoneNumberID, now)
			}

			var answer struct {
				Data []numberView `json:"data"`
			}
			if err := c.do(cmd.Context(), "GET", "/_sim/numbers", nil, &answer); err != nil {
				return err
			}

			heading := []string{"ID", "NUMBER", "NAME", "STATUS", "ACCOUNT"}
			return printList(cmd, asJSON, answer.Data, heading, func(n numberView) []string {
				return []string{n.PhoneNumberID, n.DisplayPhoneNumber, n.VerifiedName, n.Status, n.WABAID}
			})
		}),
	}

	flags := cmd.Flags()
	flags.BoolVar(&add, "add", false, "add or change a number")
	flags.StringVar(&n.PhoneNumberID, "phone-number-id", "", "`id` of the number")
	flags.StringVar(&n.WABAID, "waba-id", "", "`id` of its account")
	flags.StringVar(&n.DisplayPhoneNumber, "number", "", "the `number` itself")
	flags.StringVar(&n.VerifiedName, "name", "", "`name` of the business")
	flags.StringVar(&n.Status, "status", "", "`state`: CONNECTED, PENDING, BANNED, …")
	flags.StringVar(&n.PIN, "pin", "", "`PIN` of two-step verification")
	flags.BoolVar(&n.IsOnBizApp, "on-biz-app", false, "it is used in the app on a phone too")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) callback() *cobra.Command {
	return &cobra.Command{
		Use:   "callback FILE",
		Short: "Post a callback of your own, signed",
		Long: "Post any callback once, signed and in the provider's spelling, and print the HTTP status of the answer. FILE\n" +
			"holds the payload as JSON; - is standard input.",
		Example: "  confab trigger callback payload.json\n  echo '{\"object\": \"whatsapp_business_account\", \"entry\": []}' | confab trigger callback -",
		Args:    arguments("FILE"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			text, err := readFileOrStdin(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}

			if !json.Valid(text) {
				return fmt.Errorf("%s is not JSON", args[0])
			}

			var answer struct {
				Status int `json:"status"`
			}
			if err := c.do(cmd.Context(), "POST", "/_sim/callbacks", json.RawMessage(text), &answer); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), answer.Status)
			return err
		}),
	}
}

// readFileOrStdin reads a file, or standard input for -.
func readFileOrStdin(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

func (t *trigger) reset() *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Forget messages, people, faults and settings",
		Long: "Forget messages, people, faults, settings and callbacks under way, as between two tests. Numbers, templates,\n" +
			"media and tokens stay.",
		Example: "  confab trigger reset",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			return c.do(cmd.Context(), "POST", "/_sim/reset", nil, nil)
		}),
	}
}
