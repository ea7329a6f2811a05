package cli

import (
	"net/url"

	"github.com/spf13/cobra"
)

// contactPath is the path of a person in the control API: the one of the argument,
// or else the sample person.
func contactPath(args []string, verb string) string {
	return "/_sim/contacts/" + url.PathEscape(append(args, samplePerson)[0]) + "/" + verb
}

func (t *trigger) preferences() *cobra.Command {
	var (
		marketing string
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:   "preferences [PERSON]",
		Short: "Let a person stop or resume marketing messages",
		Long: "Let a person stop or resume marketing messages. PERSON is a number or BSUID; without it " + samplePersonName + "\n" +
			"(" + samplePerson + ") is meant. While stopped, marketing templates to them fail with 131050.",
		Example: "  confab trigger preferences --marketing stop\n  confab trigger preferences +15550002222 --marketing resume",
		Args:    arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			preference := map[string]string{"marketing": marketing}
			if err := c.do(cmd.Context(), "POST", contactPath(args, "preferences"), preference, nil); err != nil {
				return err
			}
			return printNew(cmd, asJSON, marketing, preference)
		}),
	}

	parsedFlagWithDefault(cmd, &marketing, "marketing", "stop", "what the person does: `stop|resume`", parseChoice("stop", "resume"))
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) identity() *cobra.Command {
	var (
		bsuid, phone string
		asJSON       bool
	)
	cmd := &cobra.Command{
		Use:   "identity [PERSON]",
		Short: "Let a person get a new number or user id",
		Long: "Let a person get a new business-scoped user id, which a new number brings along, and print it. PERSON is a\n" +
			"number or BSUID; without it " + samplePersonName + " (" + samplePerson + ") is meant.",
		Example: "  confab trigger identity\n  confab trigger identity +15550001111 --phone-number +15550003333",
		Args:    arguments("[PERSON]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			body := map[string]any{}
			setNonEmpty(body, "bsuid", bsuid, "phone_number", phone)

			var now struct {
				BSUID       string  `json:"bsuid"`
				PhoneNumber *string `json:"phone_number"`
			}
			if err := c.do(cmd.Context(), "POST", contactPath(args, "identity"), body, &now); err != nil {
				return err
			}
			return printNew(cmd, asJSON, now.BSUID, now)
		}),
	}

	cmd.Flags().StringVar(&bsuid, "bsuid", "", "the new user `id` (default: generated)")
	cmd.Flags().StringVar(&phone, "phone-number", "", "the new `number`")
	jsonFlag(cmd, &asJSON)
	return cmd
}
