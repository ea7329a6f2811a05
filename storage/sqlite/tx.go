package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jmoiron/sqlx/reflectx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that storage distinguishes. Everything else is a fault.
var (
	// ErrNotFound means that no such row exists in the scope that was asked.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that a row would break a uniqueness rule.
	ErrConflict = errors.New("conflict")
	// ErrUnavailable means that nothing can be written now: the queue or the disk is full, or it closes.
	ErrUnavailable = errors.New("storage unavailable")
)

// IgnoreNotFound turns ErrNotFound into success: with a deleted row nothing is left to do.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Rx reads one consistent state of the database. It may be copied.
type Rx struct {
	db   *DB
	s    *session
	walk *walk // how far it may go; nil: as far as it wants

	budget *Budget // of the lists, nil for none: see Within
}

// Changed are the watched tables that the transaction may have changed so far.
func (rx *Rx) Changed() TableSet { return rx.s.changed }

// Added are those to which it has added rows without changing any that were there.
func (rx *Rx) Added() TableSet { return rx.s.added }

// ScanTime is how long a list with filters looks for its page.
func (rx *Rx) ScanTime() time.Duration { return rx.db.scanTime }

// Get reads the single row of query into dest, or returns ErrNotFound.
func (rx *Rx) Get(dest any, query string, args ...any) error {
	stmt, err := rx.s.preparedQuery(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.Get(dest, args...))
}

// Scan is Get, column by column, for what every message needs: matching the names of columns and fields
// costs more than such a query.
func (rx *Rx) Scan(dest []any, query string, args ...any) error {
	stmt, err := rx.s.preparedQuery(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.QueryRow(args...).Scan(dest...))
}

// List reads all rows of query into dest, a pointer to a slice.
func (rx *Rx) List(dest any, query string, args ...any) error {
	stmt, err := rx.s.preparedQuery(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.Select(dest, args...))
}

// EachRow reads the rows of a query into dest, and calls read after each, until the budget ends.
func EachRow(rx *Rx, dest []any, read func(), query string, args ...any) error {
	stmt, err := rx.s.preparedQuery(query)
	if err != nil {
		return err
	}
	rows, err := stmt.Stmt.Query(args...)
	if err != nil {
		return rx.s.translate(err)
	}
	defer rows.Close()

	for rows.Next() && !rx.budget.ends() {
		if err := rows.Scan(dest...); err != nil {
			return rx.s.translate(err)
		}
		read()
		rx.budget.spend(dest...)
	}
	return rx.s.translate(rows.Err())
}

// ScanAll reads all rows of a query, column by column into the fields that
// columns returns of a row. It is to List what Scan is to Get.
func ScanAll[T any](rx *Rx, columns func(*T) []any, query string, args ...any) (all []T, err error) {
	var row T // all rows go through one variable, whose fields are bound once
	err = EachRow(rx, columns(&row), func() { all = append(all, row) }, query, args...)
	return all, err
}

// ReadRows reads the rows of a query, as many as the budget allows, by the names of columns.
func ReadRows[T any](rx *Rx, query string, args ...any) ([]T, error) {
	stmt, err := rx.s.preparedQuery(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Queryx(args...)
	if err != nil {
		return nil, rx.s.translate(err)
	}
	defer rows.Close()

	all := []T{} // JSON writes nil as null
	for rows.Next() && !rx.budget.ends() {
		var row T
		if err := rows.StructScan(&row); err != nil {
			return nil, rx.s.translate(err)
		}
		all = append(all, row)
		rx.budget.spend(&row)
	}

	return all, rx.s.translate(rows.Err())
}

// Tx changes the database: it is one closure's part of a transaction that other
// callers share (see writer). What it did becomes durable together with the work
// of the others, or not at all:
//
//   - A closure that returns an error leaves no trace. The session notices by
//     itself whether it had changed anything by then; if so, everybody's work is
//     rolled back and run again, each within a savepoint of its own.
//   - A function registered by AfterCommit runs once, in the order of registration,
//     when the commit is on disk and before Update returns; never for a closure
//     that failed or was rolled back.
//   - Functions registered by OnUndo run in the opposite order when the closure
//     failed or was rolled back, also before it is run again; never after a
//     commit. It takes back what the closure changed in memory.
type Tx struct {
	Rx
	Wx
}

// Wx is the writing half of a Tx.
type Wx struct {
	// Now is what the clock said when the transaction began: what happens at a time, or ends
	// at one, goes by it.
	Now Time
	// Order is the same as long as the clock is not set, and never before that of an earlier
	// transaction: what rows are sorted by and compared with each other (ids, created_at,
	// updated_at) goes by it.
	Order Time

	db     *DB
	s      *session
	after  []func() // AfterCommit
	undone []func() // OnUndo
}

// Exec runs a statement and returns how many rows it changed.
func (wx *Wx) Exec(query string, args ...any) (int64, error) {
	res, err := wx.s.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Run runs a statement that may change any number of rows.
func (wx *Wx) Run(query string, args ...any) error {
	_, err := wx.s.exec(query, args...)
	return err
}

// ExecOne runs a statement that has to change exactly one row; ErrNotFound if none.
func (wx *Wx) ExecOne(query string, args ...any) error {
	n, err := wx.Exec(query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// InsertRow stores those fields of a row whose columns are named.
func (wx *Wx) InsertRow(table, columns string, row any) error {
	values := wx.fields(row, columns)
	return wx.Run(`INSERT INTO `+table+` (`+columns+`) VALUES (?`+strings.Repeat(`, ?`, len(values)-1)+`)`, values...)
}

// UpdateRow stores those fields of a row whose columns are named, in the one row that has the same
// keys; ErrNotFound if there is none.
func (wx *Wx) UpdateRow(table, columns, keys string, row any) error {
	set := strings.ReplaceAll(columns, ", ", " = ?, ")
	where := strings.ReplaceAll(keys, ", ", " = ? AND ")
	return wx.ExecOne(`UPDATE `+table+` SET `+set+` = ? WHERE `+where+` = ?`, wx.fields(row, columns+", "+keys)...)
}

// fields are those of a row whose columns are named, found as sqlx finds them to read a row.
func (wx *Wx) fields(row any, columns string) (values []any) {
	v := reflect.Indirect(reflect.ValueOf(row))
	for _, path := range wx.db.write.Mapper.TraversalsByName(v.Type(), strings.Split(columns, ", ")) {
		values = append(values, reflectx.FieldByIndexesReadOnly(v, path).Interface())
	}
	return values
}

// MaxRows is how many rows one closure of bulk work changes: others wait for it, some 10 ms.
const MaxRows = 500

// Full reports whether a closure has changed enough, and should leave the rest to the next one.
func (wx *Wx) Full() bool { return wx.s.rows >= MaxRows }

// Insert runs an INSERT and returns the new row's integer key.
func (wx *Wx) Insert(query string, args ...any) (int64, error) {
	res, err := wx.s.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Wrote reports whether the transaction has changed anything so far.
func (wx *Wx) Wrote() bool { return wx.db.writer.wrote || wx.s.wrote }

// AfterCommit registers what to do once the transaction is durable. It runs on
// the writer, so it must be quick and must not call Update.
func (wx *Wx) AfterCommit(f func()) { wx.after = append(wx.after, f) }

// OnUndo registers what to take back when the transaction does not happen.
func (wx *Wx) OnUndo(f func()) { wx.undone = append(wx.undone, f) }

// Translate turns what the driver reports into what storage promises.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}

	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}

	// The lower byte is the class of an error, the upper ones say more of it.
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// DiskError marks what the disk refused as ErrUnavailable: it may pass, as a full database may.
func DiskError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
