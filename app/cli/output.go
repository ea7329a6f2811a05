package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// printJSON writes v for machines and for people who read JSON.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printNew shows what was created: its id alone, for scripts, or all of it as
// JSON.
func printNew(cmd *cobra.Command, asJSON bool, id string, view any) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), view)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
	return err
}

// printOne shows one thing: a JSON object, or a line for each field.
func printOne(cmd *cobra.Command, asJSON bool, view any, fields [][]string) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), view)
	}
	return printColumns(cmd.OutOrStdout(), fields)
}

// printList shows a listing: one JSON array, or a table with a row for each.
func printList[V any](cmd *cobra.Command, asJSON bool, views []V, heading []string, row func(V) []string) error {
	if asJSON {
		if views == nil {
			views = []V{}
		}
		return printJSON(cmd.OutOrStdout(), views)
	}

	rows := [][]string{heading}
	for _, v := range views {
		rows = append(rows, row(v))
	}
	return printColumns(cmd.OutOrStdout(), rows)
}

// printColumns prints rows in columns.
func printColumns(w io.Writer, rows [][]string) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(tab, strings.Join(cells, "\t"))
	}

	return tab.Flush()
}

// optionalText is an optional text; "" for none.
func optionalText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// printable makes text from outside, such as names of contacts, safe to print:
// without line breaks, escape sequences and marks that change the direction of
// writing. An empty text is a dash, so that a table has no holes.
func printable(cell string) string {
	if cell == "" {
		return "-"
	}

	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, cell)
}
