package app

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"confab/app/config"
)

// NewLogger writes as the settings say; without a format, text on a terminal and JSON elsewhere.
func NewLogger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // the settings were validated; this is for tests
	}

	file, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd()))

	switch {
	case c.Format == "json" || (c.Format == "" && !terminal):
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	case terminal:
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: "15:04:05.000"}))
	default:
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	}
}
