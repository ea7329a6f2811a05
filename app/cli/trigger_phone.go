package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// person is somebody on the other side, as the simulator shows them.
type person struct {
	PhoneNumber  *string           `json:"phone_number"`
	BSUID        string            `json:"bsuid"`
	Name         *string           `json:"name"`
	Username     *string           `json:"username"`
	Blocked      bool              `json:"blocked"`
	ReadReceipts bool              `json:"read_receipts"`
	Marketing    string            `json:"marketing"`
	Windows      map[string]string `json:"windows"`
}

// number is the person's number, or the BSUID where it is hidden.
func (p person) number() string {
	if p.PhoneNumber == nil {
		return p.BSUID
	}
	return *p.PhoneNumber
}

// personPath is the path of a person's phone: the one of the argument, or else the sample
// person's.
func personPath(args []string, verb string) string {
	return "/_sim/people/" + url.PathEscape(append(args, samplePerson)[0]) + verb
}

func (t *trigger) people() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "people",
		Short:   "List the people on the other side",
		Example: "  confab trigger people",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			var all struct{ Data []person }
			if err := c.do(cmd.Context(), "GET", "/_sim/people", nil, &all); err != nil {
				return err
			}

			heading := []string{"NUMBER", "NAME", "USERNAME", "MARKETING", "BLOCKED", "24 H WINDOW"}
			return printList(cmd, asJSON, all.Data, heading, func(p person) []string {
				window := "closed"
				if len(p.Windows) > 0 {
					window = "open"
				}
				return []string{p.number(), orDash(p.Name), orDash(p.Username), p.Marketing, yesOrNo(p.Blocked), window}
			})
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

// orDash is a text, or a dash where there is none.
func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (t *trigger) person() *cobra.Command {
	var (
		name, username    string
		blocked, receipts bool
		asJSON            bool
	)
	cmd := &cobra.Command{
		Use:   "person [PERSON]",
		Short: "Make a person, or change one",
		Long: "Make a person with a phone, or change one, and print the number. PERSON is a number or BSUID; without it a new\n" +
			"number is generated. A person who blocks you gets nothing any more; one without read receipts reads unseen.",
		Example: "  confab trigger person --name 'Bo Lind'\n  confab trigger person +15550001111 --blocked\n" +
			"  confab trigger person +15550001111 --read-receipts=false",
		Args: arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			body := map[string]any{}
			for flag, field := range map[string]struct {
				name  string
				value any
			}{
				"name": {"name", name}, "username": {"username", username},
				"blocked": {"blocked", blocked}, "read-receipts": {"read_receipts", receipts},
			} {
				if cmd.Flags().Changed(flag) {
					body[field.name] = field.value
				}
			}

			// A BSUID begins with a country.
			for _, given := range args {
				key := "phone_number"
				if strings.ContainsAny(given[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
					key = "bsuid"
				}
				body[key] = given
			}

			var now person
			if err := c.do(cmd.Context(), "POST", "/_sim/people", body, &now); err != nil {
				return err
			}
			return printNew(cmd, asJSON, now.number(), now)
		}),
	}

	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "`name` in the profile")
	flags.StringVar(&username, "username", "", "`username`")
	flags.BoolVar(&blocked, "blocked", false, "block the business")
	flags.BoolVar(&receipts, "read-receipts", true, "send read receipts")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// shownMessage is a message on a phone.
type shownMessage map[string]any

// text is a field as text.
func (m shownMessage) text(key string) string {
	s, _ := m[key].(string)
	return s
}

// summary is what the message says, in a line.
func (m shownMessage) summary() string {
	if deleted, _ := m["deleted"].(bool); deleted {
		return "(deleted)"
	}
	if card, ok := m["card"].(map[string]any); ok {
		body, _ := card["body"].(string)
		return body
	}
	return message{Type: m.text("type"), Request: m}.summary()
}

func (t *trigger) phone() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "phone [PERSON]",
		Short: "Show what is on a person's phone, oldest first",
		Long: "Show what is on a person's phone, oldest first, with the ticks that the person sees. PERSON is a number or BSUID;\n" +
			"without it " + samplePersonName + " (" + samplePerson + ") is meant. In a sandbox the console draws the same as a phone.",
		Example: "  confab trigger phone\n  confab trigger phone +15550002222 --json",
		Args:    arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			var all struct{ Data []shownMessage }
			if err := c.do(cmd.Context(), "GET", personPath(args, "/messages"), nil, &all); err != nil {
				return err
			}

			heading := []string{"AT", "WHO", "TYPE", "TICKS", "CONTENT", "ID"}
			return printList(cmd, asJSON, all.Data, heading, func(m shownMessage) []string {
				who := "business"
				if m.text("direction") == "inbound" {
					who = "person"
				}
				ticks := cmp.Or(m.text("ticks"), "-")
				return []string{m.text("created_at"), who, m.text("type"), ticks, truncate(m.summary()), m.text("id")}
			})
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) read() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "read [PERSON]",
		Short: "Let a person read what arrived",
		Long: "Let a person read all that arrived, and print how many messages were reported as read. PERSON is a number or\n" +
			"BSUID; without it " + samplePersonName + " (" + samplePerson + ") is meant.",
		Example: "  confab trigger read",
		Args:    arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			var answer struct {
				Read int `json:"read"`
			}
			if err := c.do(cmd.Context(), "POST", personPath(args, "/read"), nil, &answer); err != nil {
				return err
			}
			return printNew(cmd, asJSON, fmt.Sprint(answer.Read), answer)
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) window() *cobra.Command {
	var (
		state, number string
		asJSON        bool
	)
	cmd := &cobra.Command{
		Use:   "window [PERSON]",
		Short: "Open or close a person's 24-hour window",
		Long: "Open or close the 24 hours in which a person may be written to freely, in the simulator and in the sandbox's\n" +
			"server. PERSON is a number or BSUID; without it " + samplePersonName + " (" + samplePerson + ") is meant.",
		Example: "  confab trigger window --state closed\n  confab trigger window +15550002222 --state open",
		Args:    arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			body := map[string]any{"open": state == "open"}
			setNonEmpty(body, "phone_number_id", number)
			var now person
			if err := c.do(cmd.Context(), "POST", contactPath(args, "window"), body, &now); err != nil {
				return err
			}
			return printNew(cmd, asJSON, state, now)
		}),
	}

	parsedFlagWithDefault(cmd, &state, "state", "closed", "what the window is then: `open|closed`", parseChoice("open", "closed"))
	cmd.Flags().StringVar(&number, "phone-number-id", "", "`id` of the business number (default: all)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// providerCall is a call that the simulator got or made.
type providerCall struct {
	ID         int64   `json:"id"`
	Direction  string  `json:"direction"`
	Method     string  `json:"method"`
	Path       string  `json:"path"`
	Request    string  `json:"request"`
	Status     int     `json:"status"`
	Response   string  `json:"response"`
	Error      string  `json:"error,omitempty"`
	DurationMS float64 `json:"duration_ms"`
	CreatedAt  string  `json:"created_at"`
}

func (t *trigger) calls() *cobra.Command {
	var (
		direction string
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:   "calls",
		Short: "List what the provider was asked and answered, newest first",
		Long: "List the last calls to the provider with its answers, newest first, or the callbacks that it posted. With --json\n" +
			"the bodies are shown as they were, without tokens.",
		Example: "  confab trigger calls\n  confab trigger calls --direction given --json",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			var all struct{ Data []providerCall }
			if err := c.do(cmd.Context(), "GET", "/_sim/calls?direction="+direction, nil, &all); err != nil {
				return err
			}

			heading := []string{"AT", "STATUS", "MS", "CALL"}
			return printList(cmd, asJSON, all.Data, heading, func(one providerCall) []string {
				return []string{one.CreatedAt, fmt.Sprint(one.Status), fmt.Sprintf("%.1f", one.DurationMS), one.Method + " " + one.Path}
			})
		}),
	}

	parsedFlagWithDefault(cmd, &direction, "direction", "asked", "calls of the app, callbacks, or both: `asked|given|all`",
		parseChoice("asked", "given", "all"))
	jsonFlag(cmd, &asJSON)
	return cmd
}
