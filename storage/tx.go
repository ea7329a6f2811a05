package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What storage can say went wrong. Everything else is a fault.
var (
	// ErrNotFound means that no such row exists in the scope that was asked.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that a row would break a uniqueness rule.
	ErrConflict = errors.New("conflict")
	// ErrUnavailable means that nothing can be written just now: the writer's
	// queue stayed full, the disk is full, or the database is shutting down.
	ErrUnavailable = errors.New("storage unavailable")
)

// IgnoreNotFound turns ErrNotFound into success, for callers to whom what was deleted
// meanwhile means that nothing is left to do.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// session is one connection and its prepared statements, cached by text. Only
// one goroutine uses it at a time.
type session struct {
	conn    *sqlx.Conn
	stmts   map[string]*statement
	lost    error  // why SQLite may have rolled the transaction back by itself
	changed tables // what the transaction may have changed so far
}

// statement is a prepared statement and what it may change.
type statement struct {
	*sqlx.Stmt
	changes tables
}

func newSession(ctx context.Context, pool *sqlx.DB) (*session, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: make(map[string]*statement)}, nil
}

// boundLimit finds the limits that are given with each call.
var boundLimit = regexp.MustCompile(`\b(LIMIT|OFFSET) (\?\d*)`)

// settledPlan hides a query's limits from the planner. It would choose its plan by
// them, and so prepare the statement anew for each call: that takes longer than
// most queries do.
func settledPlan(query string) string { return boundLimit.ReplaceAllString(query, "$1 $2 + 0") }

// prepared returns the statement for query, preparing it the first time.
//
// Statements never see a caller's context: cancelling one would make SQLite
// roll back the whole transaction and run the next statement outside of any.
func (s *session) prepared(query string) (*sqlx.Stmt, error) {
	if s.lost != nil {
		return nil, s.lost
	}
	stmt, ok := s.stmts[query]
	if !ok {
		prepared, err := s.conn.PreparexContext(context.Background(), settledPlan(query))
		if err != nil {
			return nil, s.translate(fmt.Errorf("prepare %q: %w", query, err))
		}
		stmt = &statement{prepared, changedBy(query)}
		s.stmts[query] = stmt
	}
	s.changed |= stmt.changes
	return stmt.Stmt, nil
}

func (s *session) exec(query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepared(query)
	if err != nil {
		return nil, err
	}
	res, err := stmt.Exec(args...)
	return res, s.translate(err)
}

// renew forgets what the last caller met with.
func (s *session) renew() { s.lost, s.changed = nil, 0 }

// begin starts a transaction; how is BEGIN or BEGIN IMMEDIATE.
func (s *session) begin(how string) error {
	s.renew()
	_, err := s.exec(how)
	return err
}

// rollback ends the transaction without a trace. It fails, rightly, when SQLite
// was there first.
func (s *session) rollback() error {
	s.lost = nil
	_, err := s.exec("ROLLBACK")
	return err
}

// translate turns an error into what storage promises. After a full disk and
// the like SQLite may have rolled back, and further statements would each
// commit by themselves: so the session refuses them until the next begin.
func (s *session) translate(err error) error {
	err = translate(err)
	if errors.Is(err, ErrUnavailable) {
		s.lost = err
	}
	return err
}

func (s *session) close() {
	for _, stmt := range s.stmts {
		stmt.Close()
	}
	s.conn.Close()
}

// Rx reads one consistent state of the database.
type Rx struct {
	db    *DB
	s     *session
	since int64 // how far memos.changes was before the snapshot
}

// Ping reads something, to prove that reading works.
func (rx *Rx) Ping() error {
	var one int
	return rx.get(&one, `SELECT count(*) FROM meta`)
}

// get reads the single row of query into dest, or returns ErrNotFound.
func (rx *Rx) get(dest any, query string, args ...any) error {
	stmt, err := rx.s.prepared(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.Get(dest, args...))
}

// scan reads the single row of query into dest, column by column, or returns
// ErrNotFound. It is get for what every message needs: matching the names of
// columns and fields costs more than such a query.
func (rx *Rx) scan(dest []any, query string, args ...any) error {
	stmt, err := rx.s.prepared(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.QueryRow(args...).Scan(dest...))
}

// list reads all rows of query into dest, a pointer to a slice.
func (rx *Rx) list(dest any, query string, args ...any) error {
	stmt, err := rx.s.prepared(query)
	if err != nil {
		return err
	}
	return rx.s.translate(stmt.Select(dest, args...))
}

// scanned reads all rows of a query, column by column into what columns names of
// a row. It is list for what is read by the hundred, as scan is get.
func scanned[T any](rx *Rx, columns func(*T) []any, query string, args ...any) ([]T, error) {
	stmt, err := rx.s.prepared(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Stmt.Query(args...)
	if err != nil {
		return nil, rx.s.translate(err)
	}
	defer rows.Close()
	var (
		row  T
		all  []T
		dest = columns(&row)
	)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, rx.s.translate(err)
		}
		all = append(all, row)
	}
	return all, rx.s.translate(rows.Err())
}

// Tx changes the database. What it did becomes durable together with the work
// of other callers, or not at all.
type Tx struct {
	Rx
	// Now is when the transaction began: every row it writes carries this time.
	Now Time

	wrote  bool
	after  []func()
	undone []func()
}

// exec runs a statement and returns how many rows it changed.
func (tx *Tx) exec(query string, args ...any) (int64, error) {
	res, err := tx.s.exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if n > 0 {
		tx.wrote = true
	}
	return n, err
}

// must runs a statement that has to change exactly one row; ErrNotFound if none.
func (tx *Tx) must(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// returning runs a statement that changes a row and returns some of it, which it
// reads into dest; ErrNotFound if there is none to change.
func (tx *Tx) returning(dest []any, query string, args ...any) error {
	err := tx.scan(dest, query, args...)
	tx.wrote = tx.wrote || err == nil
	return err
}

// insert runs an INSERT and returns the new row's integer key.
func (tx *Tx) insert(query string, args ...any) (int64, error) {
	res, err := tx.s.exec(query, args...)
	if err != nil {
		return 0, err
	}
	tx.wrote = true
	return res.LastInsertId()
}

// AfterCommit registers what to do once the transaction is durable. It runs on
// the writer, so it must be quick and must not call Update.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// OnUndo registers what to take back when the transaction does not happen.
func (tx *Tx) OnUndo(f func()) { tx.undone = append(tx.undone, f) }

// translate turns what the driver reports into what storage promises.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return fmt.Errorf("%w: %w", ErrConflict, err)
		}
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return err
}
