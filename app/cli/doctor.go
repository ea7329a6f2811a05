package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/doctor"
)

func (e *env) doctor() *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and suggest fixes",
		Long: "Check settings, permissions, disk, clock, database, people, the provider and its API version, tokens and\n" +
			"their permissions, callbacks, display names, payment methods, limits, certificate, public URL,\n" +
			"jobs, webhooks and media, whether a server is running or not, and suggest a fix for each problem. Nothing\n" +
			"is changed, but that one small object is written to the object storage of media and deleted again. The\n" +
			"exit status is 1 if something is broken.",
		Example: "  confab doctor\n  confab doctor --quick --json",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			o := doctor.Options{
				Sources:   e.sources(cmd),
				MasterKey: os.Getenv("CONFAB_MASTER_KEY"),
				Schema:    e.Schema,
				Version:   e.Version,
				Quick:     quick,
			}

			found := []doctor.Finding{}
			doctor.Examine(cmd.Context(), o, func(f doctor.Finding) {
				found = append(found, f)
				if !wantsJSON(cmd) {
					printFinding(cmd, f)
				}
			})

			if wantsJSON(cmd) {
				if err := printJSON(cmd.OutOrStdout(), found); err != nil {
					return err
				}
			}
			return printSummary(cmd, found)
		}),
	}

	cmd.Flags().BoolVar(&quick, "quick", false, "skip the checks that read all data: the whole database and all media files")
	return withJSON(cmd)
}

// printFinding prints a finding as soon as it is made: some examinations take a while.
func printFinding(cmd *cobra.Command, f doctor.Finding) {
	fmt.Fprintf(cmd.OutOrStdout(), "%-8s %-15s %s\n", f.Status, f.Check, printable(f.Message))
	if f.Advice != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "%24s → %s\n", "", printable(f.Advice))
	}
}

// printSummary counts the findings of each status. Its error is the command's exit status.
func printSummary(cmd *cobra.Command, found []doctor.Finding) error {
	counts := make(map[string]int)
	for _, f := range found {
		counts[f.Status]++
	}

	if !wantsJSON(cmd) {
		fmt.Fprintf(cmd.OutOrStdout(), "\n%d ok, %d warnings, %d broken.\n",
			counts[doctor.OK], counts[doctor.Warning], counts[doctor.Broken])
		advises := slices.ContainsFunc(found, func(f doctor.Finding) bool { return strings.Contains(f.Advice, "confab ") })
		if given := cmd.Flags().Lookup("data-dir"); given.Changed && advises {
			fmt.Fprintf(cmd.OutOrStdout(), "Add --data-dir %s to the commands above.\n", printable(given.Value.String()))
		}
	}

	if counts[doctor.Broken] > 0 {
		return &exitError{status: exitFailed}
	}
	return nil
}
