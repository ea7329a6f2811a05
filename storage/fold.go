package storage

import (
	"database/sql/driver"
	"errors"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// fold is the form in which texts are compared without regard to case; SQLite's
// own NOCASE knows only ASCII. It goes through upper case first, so that letters
// with two lower-case forms, as the Greek sigma, are equal too.
func fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// Fold is fold for those who compare addresses elsewhere.
func Fold(text string) string { return fold(text) }

// registerFunctions gives SQLite our own functions, once for all connections.
var registerFunctions = sync.OnceValue(func() error {
	return errors.Join(register("matches", matches), register("says", says))
})

// register gives SQLite a function, which must not keep its arguments: they are SQLite's own
// memory. A copy would be made only as far as the first NUL.
func register(name string, function func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error)) error {
	return sqlite.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: -1, Deterministic: true, VolatileArgs: true, Scalar: function})
}

// matches tells whether any of some texts contains the first, which is folded.
func matches(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	wanted, _ := args[0].(string)
	for _, arg := range args[1:] {
		if text, ok := arg.(string); ok && strings.Contains(fold(text), wanted) {
			return int64(1), nil
		}
	}
	return int64(0), nil
}
