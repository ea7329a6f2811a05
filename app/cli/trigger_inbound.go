package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// sender is the person who writes, as flags give it.
type sender struct {
	from, bsuid, name, username string
	to                          string // which of the business's numbers
}

func (s *sender) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.from, "from", "", "`number` of the person (default "+samplePerson+")")
	flags.StringVar(&s.bsuid, "bsuid", "", "business-scoped user `id` of the person; without --from their number is hidden")
	flags.StringVar(&s.name, "name", "", "`name` of the person")
	flags.StringVar(&s.username, "username", "", "`username` of the person")
	flags.StringVar(&s.to, "phone-number-id", "", "`id` of the business number written to (default: the first)")
}

// addTo adds the sender to a message. If neither the flags nor --content name
// one, it is the sample person.
func (s sender) addTo(body map[string]any) {
	if s.from == "" && s.bsuid == "" && body["from"] == nil && body["bsuid"] == nil {
		s.from = samplePerson
		if s.name == "" && body["name"] == nil {
			s.name = samplePersonName
		}
	}
	setNonEmpty(body, "from", s.from, "bsuid", s.bsuid, "name", s.name, "username", s.username, "phone_number_id", s.to)
}

// setNonEmpty sets fields of a body, given as pairs of key and value. Empty values
// are left out.
func setNonEmpty(body map[string]any, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			body[pairs[i]] = pairs[i+1]
		}
	}
}

func (t *trigger) inbound() *cobra.Command {
	var (
		from    sender
		message content
		asJSON  bool
		kinds   = contentKinds()
		half    = len(kinds) / 2
	)
	cmd := &cobra.Command{
		Use:   "inbound",
		Short: "Let a person write to the business number",
		Long: "Let a person write to the business number, and print the message's id. Without flags, " +
			samplePersonName + " (" + samplePerson + ")\n" +
			"writes \"" + sampleGreeting + "\". The type follows from the other flags where it is not given; all have sample content.\n\n" +
			"Types: " + strings.Join(kinds[:half], ", ") + ",\n" + strings.Join(kinds[half:], ", ") + ".",
		Example: "  confab trigger inbound\n" +
			"  confab trigger inbound --text 'Where is my order?' --from +15550002222 --name 'Bo Lind'\n" +
			"  confab trigger inbound --file photo.jpg --caption 'It is broken'\n" +
			"  confab trigger inbound --button-id yes --title 'Yes, please'\n" +
			"  confab trigger inbound --emoji ❤️\n" +
			"  confab trigger inbound --latitude 48.8584 --longitude 2.2945\n" +
			"  confab trigger inbound --type unsupported --code 131060\n" +
			"  confab trigger inbound --content '{\"text\": {\"body\": \"hi\"}, \"referral\": {\"source_type\": \"ad\"}}'",
		Args: arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			body, err := message.buildBody(cmd, c)
			if err != nil {
				return err
			}

			from.addTo(body)
			var answer createdAnswer
			if err := c.do(cmd.Context(), "POST", "/_sim/inbound", body, &answer); err != nil {
				return err
			}
			return printNew(cmd, asJSON, answer.ID, answer)
		}),
	}

	message.addFlags(cmd, sampleGreeting)
	from.addFlags(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (t *trigger) echo() *cobra.Command {
	var (
		to, number string
		message    content
		asJSON     bool
	)
	cmd := &cobra.Command{
		Use:   "echo",
		Short: "Let the business write to a person from its phone",
		Long: "Let the business write to a person from the app on its phone: your system gets a callback, an echo, of it. The\n" +
			"flags for the content are those of 'confab trigger inbound'.",
		Example: "  confab trigger echo\n  confab trigger echo --to +15550002222 --text 'I will call you back'",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			body, err := message.buildBody(cmd, c)
			if err != nil {
				return err
			}

			setNonEmpty(body, "to", to, "phone_number_id", number)
			var answer createdAnswer
			if err := c.do(cmd.Context(), "POST", "/_sim/echo", body, &answer); err != nil {
				return err
			}
			return printNew(cmd, asJSON, answer.ID, answer)
		}),
	}

	message.addFlags(cmd, "Sent from the phone")
	cmd.Flags().StringVar(&to, "to", samplePerson, "`number` or BSUID of the person")
	cmd.Flags().StringVar(&number, "phone-number-id", "", "`id` of the business number (default: the first)")
	jsonFlag(cmd, &asJSON)
	return cmd
}
