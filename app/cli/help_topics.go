package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/pages/guides"
)

//go:embed assets/changes.txt
var changes string

// addHelpTopics adds the texts that 'confab help NAME' prints: commands that do nothing,
// which cobra lists below the others. A guide that has the name of a command is none of
// them: see printGuideOf.
func addHelpTopics(root *cobra.Command) {
	var list strings.Builder
	for _, g := range guides.All() {
		fmt.Fprintf(&list, "  confab help %-14s %s\n", g.Name, g.Title)
		if !isCommand(root, g.Name) {
			root.AddCommand(helpTopic(g.Name, g.Title, g.Text))
		}
	}

	index := "Guides, also served at /docs/guides/:\n\n" + list.String()
	root.AddCommand(helpTopic("guides", "List all guides", index))
	root.AddCommand(helpTopic("changes", "What changed in each version", changes))
}

func helpTopic(name, short, text string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: text, DisableFlagsInUseLine: true}
}

func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name && c.Runnable() })
}

// printGuideOf prints the guide that has the name of a command, such as webhooks. The
// help of the command itself comes after it.
func printGuideOf(w io.Writer, root *cobra.Command, args []string) {
	for _, g := range guides.All() {
		if len(args) == 1 && args[0] == g.Name && isCommand(root, g.Name) {
			fmt.Fprintf(w, "%s\n## The command\n\n", g.Text)
		}
	}
}
