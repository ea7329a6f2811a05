package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (t *trigger) settings() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "settings [NAME=VALUE…]",
		Short: "Show or change how the simulator behaves",
		Long: "Show how the simulator behaves, or change it: how many milliseconds after a send it is sent, delivered and\n" +
			"read (null is never), whether the 24-hour window and the rate limits hold, how templates are reviewed.",
		Example: "  confab trigger settings\n" +
			"  confab trigger settings auto_read=true delivered_ms=2000\n" +
			"  confab trigger settings template_verdict=REJECTED service_window=false messages_per_second=0",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := parseAssignments(args)
			return err
		},
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) error {
			var now map[string]any
			if err := c.do(cmd.Context(), "GET", "/_sim/settings", nil, &now); err != nil {
				return err
			}
			if changes, _ := parseAssignments(args); len(changes) > 0 {
				if err := checkAssignments(changes, now); err != nil {
					return err
				}
				if err := c.do(cmd.Context(), "PATCH", "/_sim/settings", changes, &now); err != nil {
					return err
				}
			}

			var fields [][]string
			for _, name := range slices.Sorted(maps.Keys(now)) {
				value, err := json.Marshal(now[name])
				if err != nil {
					return err
				}
				fields = append(fields, []string{name, strings.Trim(string(value), `"`)})
			}
			return printOne(cmd, asJSON, now, fields)
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

// parseAssignments reads arguments of the form name=value. A value that is not
// valid JSON is taken as text.
func parseAssignments(args []string) (map[string]any, error) {
	changes := map[string]any{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", arg)
		}

		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		changes[name] = value
	}
	return changes, nil
}

// checkAssignments refuses names that are no settings, and what is neither true nor false
// where that is wanted.
func checkAssignments(changes, now map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		current, known := now[name]
		if !known {
			return usage("there is no setting %s, only %s", name, strings.Join(slices.Sorted(maps.Keys(now)), ", "))
		}
		_, wantsBool := current.(bool)
		if _, isBool := changes[name].(bool); wantsBool && !isBool {
			return usage("%s must be true or false", name)
		}
	}
	return nil
}

func (t *trigger) reset() *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Forget messages, people, faults and settings",
		Long: "Forget messages, people, faults, settings and callbacks that are not delivered yet, as between two tests. Numbers,\n" +
			"templates, media and tokens stay.",
		Example: "  confab trigger reset",
		Args:    arguments(),
		RunE: t.withSimulator(func(cmd *cobra.Command, _ []string, c *simulatorClient) error {
			return c.do(cmd.Context(), "POST", "/_sim/reset", nil, nil)
		}),
	}
}
