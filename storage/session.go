package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"github.com/jmoiron/sqlx"
)

// session is one connection and its prepared statements, cached by text. Only
// one goroutine uses it at a time. Every statement of a transaction goes through
// exec, preparedQuery or runOnce, and through nothing else: conn is for the
// methods of session alone. So a session knows, without being told:
//
//   - lost: SQLite may have rolled the transaction back by itself, after a full
//     disk or the like. Each further statement would then commit alone, so the
//     session refuses them all until the next begin.
//   - changed: which of the cached tables the transaction may have changed so
//     far. The rest of it reads past those caches, and the commit empties them
//     (see cache).
//   - added: to which of them it has added rows that leave what is cached valid. What
//     it reads of those is not cached, because it may not be committed.
//   - rows: how many rows the present closure has changed. A closure that works
//     through a long list leaves the rest to the next one by it (see Tx.Full).
//   - wrote: a statement has changed rows, or may have, since the writer called
//     the present closure. If the closure then fails, its half of the work is in
//     the shared transaction and has to be undone (see writer). A statement that
//     returns rows counts as a change unless it is a SELECT, so that one with
//     RETURNING needs no mention.
type session struct {
	conn    *sqlx.Conn
	stmts   map[string]*statement
	lost    error
	changed tableSet
	added   tableSet
	rows    int64
	wrote   bool
	observe func(query string) // nil but for tests: see ObserveStatements
}

// statement is a prepared statement and what it may change.
type statement struct {
	*sqlx.Stmt
	changes tableSet
	adds    tableSet
	reads   bool // it is a SELECT
}

func newSession(ctx context.Context, pool *sqlx.DB) (*session, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: make(map[string]*statement)}, nil
}

// isConnected tells whether the session has a connection. One without refuses every
// statement, and is there to say why (see Rx.returnSession).
func (s *session) isConnected() bool { return s.conn != nil }

// useLog makes sure that the file is in WAL mode. A copy made by VACUUM INTO is
// not, and in it readers and the writer would wait for each other.
func (s *session) useLog() error {
	var mode string
	if err := s.conn.GetContext(context.Background(), &mode, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot hold a write-ahead log (journal mode is %s): use a local disk", mode)
	}
	return nil
}

// boundLimit finds the limits that are given with each call.
var boundLimit = regexp.MustCompile(`\b(LIMIT|OFFSET) (\?\d*)`)

// hideLimits hides a query's limits from the planner. It would choose its plan by
// them, and so prepare the statement anew for each call: that takes longer than
// most queries do.
func hideLimits(query string) string { return boundLimit.ReplaceAllString(query, "$1 $2 + 0") }

// prepared returns the statement for query, preparing it the first time.
//
// Statements never see a caller's context: cancelling one would make SQLite
// roll back the whole transaction and run the next statement outside of any.
func (s *session) prepared(query string) (*statement, error) {
	if s.lost != nil {
		return nil, s.lost
	}
	if s.observe != nil {
		s.observe(query)
	}

	stmt, ok := s.stmts[query]
	if !ok {
		prepared, err := s.conn.PreparexContext(context.Background(), hideLimits(query))
		if err != nil {
			return nil, s.translate(fmt.Errorf("prepare %q: %w", query, err))
		}
		stmt = &statement{Stmt: prepared, changes: changedBy(query), adds: addedBy(query), reads: onlyReads(query)}
		s.stmts[query] = stmt
	}

	s.changed |= stmt.changes
	s.added |= stmt.adds
	return stmt, nil
}

// exec runs a statement that returns no rows.
func (s *session) exec(query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepared(query)
	if err != nil {
		return nil, err
	}
	res, err := stmt.Exec(args...)
	if err != nil {
		return nil, s.translate(err)
	}

	n, err := res.RowsAffected()
	if n > 0 || err != nil {
		s.wrote = true
	}
	s.rows += n
	return res, nil
}

// preparedQuery prepares a statement whose rows the caller reads. If it is not a
// SELECT it may change rows too, which is not known before they are read.
func (s *session) preparedQuery(query string) (*sqlx.Stmt, error) {
	stmt, err := s.prepared(query)
	if err != nil {
		return nil, err
	}
	s.wrote = s.wrote || !stmt.reads
	return stmt.Stmt, nil
}

// runOnce runs a statement whose text will not come again, so that it is not
// worth keeping, and reads its rows to the end.
func (s *session) runOnce(query string) error {
	if s.lost != nil {
		return s.lost
	}
	s.changed |= changedBy(query)
	s.wrote = true

	rows, err := s.conn.QueryContext(context.Background(), query)
	if err != nil {
		return s.translate(err)
	}
	defer rows.Close()

	for rows.Next() { // its work is done row by row
	}
	return s.translate(rows.Err())
}

// reset forgets what happened in the transaction before.
func (s *session) reset() { s.lost, s.changed, s.added = nil, 0, 0 }

// begin starts a transaction; how is BEGIN or BEGIN IMMEDIATE.
func (s *session) begin(how string) error {
	s.reset()
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

// translate turns an error into what storage promises, and remembers one after
// which the transaction may be gone.
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
