package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func (t *trigger) callback() *cobra.Command {
	return &cobra.Command{
		Use:   "callback FILE",
		Short: "Post a callback of your own, signed",
		Long: "Post any callback once, signed and in the provider's spelling, and print the HTTP status of the answer. FILE\n" +
			"holds the payload as JSON; - is standard input.",
		Example: "  confab trigger callback payload.json\n" +
			"  echo '{\"object\": \"whatsapp_business_account\", \"entry\": []}' | confab trigger callback -",
		Args: arguments("FILE"),
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
