package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (e *env) sandboxEnv() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print a sandbox's address and key as shell variables",
		Long: "Print CONFAB_BASE_URL, CONFAB_API_KEY, CONFAB_PHONE_NUMBER_ID and CONFAB_SIMULATOR_URL of the sandbox in the\n" +
			"data directory (default " + defaultSandboxDir + ") as shell variables, whether it is running or not.",
		Example: "  eval \"$(confab sandbox env)\"\n  confab sandbox env --data-dir ./my-sandbox",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			var s sandboxState
			if err := e.readSandboxFile(cmd, &s); err != nil {
				return err
			}

			for _, variable := range s.environment() {
				name, value, _ := strings.Cut(variable, "=")
				fmt.Fprintf(cmd.OutOrStdout(), "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
			}
			return nil
		}),
	}
}

// environment has the variables by which a command finds the sandbox.
func (s *sandboxState) environment() []string {
	return []string{
		baseURLVariable + "=" + s.BaseURL,
		apiKeyVariable + "=" + s.APIKey,
		"CONFAB_PHONE_NUMBER_ID=" + s.PhoneNumberID,
		simulatorURLVariable + "=" + s.SimulatorURL,
	}
}
