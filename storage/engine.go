package storage

import (
	"context"
	"time"

	"confab/storage/sqlite"
)

// The engine's names that callers of storage use.
type (
	Time       = sqlite.Time       // an instant in milliseconds since 1970 UTC; zero means never
	JSON       = sqlite.JSON       // a JSON text as stored; nil is SQL NULL and JSON null
	Strings    = sqlite.Strings    // a list that is stored as a JSON array
	After      = sqlite.After      // where a page begins: after the row with this sort key and id
	Budget     = sqlite.Budget     // bounds the bytes of the rows that a list reads into memory
	Options    = sqlite.Options    // how to open a database
	Commit     = sqlite.Commit     // describes, to an observer, one group commit
	PanicError = sqlite.PanicError // a panic inside a transaction, as its caller sees it
)

// InternalWork takes the place of an organization where the server reads for itself.
const InternalWork = sqlite.InternalWork

// First is the key before the first page, and Last the one after the last.
var First, Last = sqlite.First, sqlite.Last

// The errors that storage distinguishes. Everything else is a fault.
var (
	ErrNotFound       = sqlite.ErrNotFound       // no such row exists in the scope that was asked
	ErrConflict       = sqlite.ErrConflict       // a row would break a uniqueness rule
	ErrUnavailable    = sqlite.ErrUnavailable    // nothing can be written just now
	ErrTooManyWaiting = sqlite.ErrTooManyWaiting // too many searches of the organization wait
	ErrMasterKey      = sqlite.ErrMasterKey      // the file was sealed with another key
	ErrSealed         = sqlite.ErrSealed         // sealed data cannot be read
	ErrNotUpgraded    = sqlite.ErrNotUpgraded    // a file is of an older schema, and may not be upgraded here
	ErrNotWritable    = sqlite.ErrNotWritable    // the system does not let this user write a database
)

// IgnoreNotFound turns ErrNotFound into success: see sqlite.IgnoreNotFound.
func IgnoreNotFound(err error) error { return sqlite.IgnoreNotFound(err) }

// At converts a time, cutting it to milliseconds.
func At(t time.Time) Time { return sqlite.At(t) }

// Now is the current instant.
func Now() Time { return sqlite.Now() }

// NewBudget makes a budget of some bytes.
func NewBudget(bytes int) *Budget { return sqlite.NewBudget(bytes) }

// ValidID reports whether an id is the prefix and a ULID in upper case.
func ValidID(prefix, id string) bool { return sqlite.ValidID(prefix, id) }

// Fold is the form in which texts are compared without regard to case.
func Fold(text string) string { return sqlite.Fold(text) }

// CopyDatabase writes a consistent copy of a database to an empty file: see sqlite.CopyDatabase.
func CopyDatabase(ctx context.Context, path, target string, progress func(done, total int64)) error {
	return sqlite.CopyDatabase(ctx, path, target, progress)
}
