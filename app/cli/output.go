package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// withJSON adds --json to a command, with which printNew, printOne and printList print JSON.
func withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

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

// printAny prints what is only to be had as JSON.
func printAny(cmd *cobra.Command, v any) error { return printJSON(cmd.OutOrStdout(), v) }

// printNew shows what was created: its id alone, for scripts, or all of it as JSON.
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

// optional formats a value that may be missing; "" then.
func optional[T any](format string, v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
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

const (
	progressWidth    = 30
	progressInterval = 100 * time.Millisecond
)

// progress is a line on the terminal that shows how far long work is. On
// anything but a terminal it shows nothing.
type progress struct {
	w       io.Writer
	what    string
	format  func(n int64) string // an amount as people read it
	drawnAt time.Time            // zero before the first step
}

// newProgress makes the line, which appears with the first step.
func newProgress(w io.Writer, what string, show func(int64) string) *progress {
	if !isTerminal(w) {
		w = io.Discard
	}
	return &progress{w: w, what: what, format: show}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// stepOf is step in a part of the work that has a name of its own.
func (p *progress) stepOf(what string, done, total int64) {
	p.what = what
	p.step(done, total)
}

// step draws the line, unless it was drawn a moment ago.
func (p *progress) step(done, total int64) {
	if time.Since(p.drawnAt) < progressInterval {
		return
	}

	p.drawnAt = time.Now()
	fmt.Fprintf(p.w, "\r%s\x1b[K", progressBar(p.what, done, total, p.format))
}

func (p *progress) end() {
	if !p.drawnAt.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// progressBar is the line's text. The total may grow during the work, as a
// database does: it is never shown as less than done.
func progressBar(what string, done, total int64, format func(int64) string) string {
	total = max(total, done, 1)
	full := int(done * progressWidth / total)
	bar := strings.Repeat("#", full) + strings.Repeat(".", progressWidth-full)

	return fmt.Sprintf("%s [%s] %3d%%  %s of %s", what, bar, done*100/total, format(done), format(total))
}

func formatCount(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// formatBytes writes a size in the largest unit in which it is at least 1.
func formatBytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}

	size, prefix := float64(n)/unit, 0
	for ; size >= unit; prefix++ {
		size /= unit
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGTPE"[prefix])
}
