package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

type versionView struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (e *env) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  confab version\n  confab version --json",
		Args:    arguments(),
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			v := versionView{Version: e.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}

			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "confab %s (%s, %s)\n", v.Version, v.Go, v.System)
			return nil
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}
