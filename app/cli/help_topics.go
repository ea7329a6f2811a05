package cli

import (
	_ "embed"

	"github.com/spf13/cobra"
)

//go:embed assets/changes.txt
var changes string

// helpTopics are texts that 'confab help NAME' prints: commands that do nothing,
// which cobra lists below the others.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "changes", Short: "What each version brought", Long: changes, DisableFlagsInUseLine: true},
	}
}
