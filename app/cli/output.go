package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// withJSON adds --json to a command. With it, what the command prints by printNew, printOne
// and printList is JSON.
func withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// wantsJSON reports whether --json is given.
func wantsJSON(cmd *cobra.Command) bool {
	asJSON, err := cmd.Flags().GetBool("json")
	return err == nil && asJSON
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
func printNew(cmd *cobra.Command, id string, view any) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), view)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
	return err
}

// printOne shows one thing: a JSON object, or a line for each field.
func printOne(cmd *cobra.Command, view any, fields [][]string) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), view)
	}
	return printColumns(cmd.OutOrStdout(), fields)
}

// table is how a list of things is printed.
type table[T any] struct {
	heading []string
	row     func(T) []string
	view    func(T) any // in JSON; nil is the thing itself
	flush   bool        // a running server stores first when each of them was used last
}

// printList shows a list: one JSON array, or a table with a row for each.
func printList[T any](cmd *cobra.Command, all []T, t table[T]) error {
	if !wantsJSON(cmd) {
		rows := [][]string{t.heading}
		for _, one := range all {
			rows = append(rows, t.row(one))
		}
		return printColumns(cmd.OutOrStdout(), rows)
	}

	views := make([]any, len(all))
	for i, one := range all {
		views[i] = one
		if t.view != nil {
			views[i] = t.view(one)
		}
	}
	return printJSON(cmd.OutOrStdout(), views)
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

// optionalNumber is an optional number as text; "" for none.
func optionalNumber(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// truncate shortens a text to the width of its column.
func truncate(s string) string {
	const most = 40
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return s
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
