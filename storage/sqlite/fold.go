package sqlite

import (
	"database/sql/driver"
	"strings"

	"modernc.org/sqlite"
)

// Fold is the form in which texts are compared without regard to case; SQLite's
// own NOCASE knows only ASCII. It goes through upper case first, so that letters
// with two lower-case forms, as the Greek sigma, are equal too.
func Fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// RegisterFunction gives SQLite a function of ours. It must not keep its arguments: they are SQLite's own
// memory, and a copy would be made only as far as the first NUL.
func RegisterFunction(name string, function func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error)) error {
	return sqlite.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: -1, Deterministic: true, VolatileArgs: true, Scalar: function})
}

// Matches reports whether any of some texts contains the first, which is folded.
func Matches(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	wanted, _ := args[0].(string)
	for _, arg := range args[1:] {
		if text, ok := arg.(string); ok && strings.Contains(Fold(text), wanted) {
			return int64(1), nil
		}
	}
	return int64(0), nil
}
