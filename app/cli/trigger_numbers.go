package cli

import "github.com/spf13/cobra"

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
		Long: "List the simulator's business numbers, or with --add create one and print its id; what is not given is\n" +
			"generated. With the id of one that exists, that one is changed.",
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
	flags.BoolVar(&n.IsOnBizApp, "on-biz-app", false, "the number is used in the app on a phone, too")
	jsonFlag(cmd, &asJSON)
	return cmd
}
