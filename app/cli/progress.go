package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

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
	drawnAt time.Time
	shown   bool
}

// newProgress makes the line, which appears with the first step.
func newProgress(w io.Writer, what string, show func(int64) string) *progress {
	if !isTerminal(w) {
		w = io.Discard
	}
	return &progress{w: w, what: what, format: show}
}

// isTerminal reports whether a file is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// step draws the line, unless it was drawn a moment ago.
func (p *progress) step(done, total int64) {
	if time.Since(p.drawnAt) < progressInterval {
		return
	}

	p.drawnAt, p.shown = time.Now(), true
	fmt.Fprintf(p.w, "\r%s\x1b[K", progressBar(p.what, done, total, p.format))
}

// end takes the line away.
func (p *progress) end() {
	if p.shown {
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

// formatCount writes a number with commas between the thousands.
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

	size, units := float64(n), "KMGTPE"
	for i := range units {
		if size /= unit; size < unit || i == len(units)-1 {
			return fmt.Sprintf("%.1f %ciB", size, units[i])
		}
	}
	return ""
}
