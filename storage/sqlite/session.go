package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jmoiron/sqlx"
)

// session is one connection and its prepared statements, cached by text. Only
// one goroutine uses it at a time. Every statement of a transaction goes through
// exec, preparedQuery, eachText or runOnce, and through nothing else: conn is for
// the methods of session alone. So a session knows by itself:
//
//   - lost: SQLite may have rolled the transaction back by itself, after a full
//     disk or the like. Each further statement would then commit alone, so the
//     session refuses them all until the next begin.
//   - changed: which of the cached tables the transaction may have changed so
//     far. The rest of it reads past those caches, and the commit empties them
//     (see Hooks.Committed).
//   - added: to which of them it has added rows that leave cached rows valid. What
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
	tables  func(query string) (changes, adds TableSet) // see Hooks.Classify
	lost    error
	changed TableSet
	added   TableSet
	rows    int64
	wrote   bool
	observe func(query string)  // nil but for tests: see ObserveStatements
	bound   []driver.NamedValue // room for the arguments of eachText
}

// statement is a prepared statement and what it may change.
type statement struct {
	*sqlx.Stmt
	direct  driver.Stmt // in its place, of one that is run past database/sql:
	conn    *sqlx.Conn  // it may only be used inside of this connection's Raw
	changes TableSet
	adds    TableSet
	reads   bool // it is a SELECT
}

// Close frees the statement.
func (st *statement) Close() error {
	if st.direct != nil {
		return st.conn.Raw(func(any) error { return st.direct.Close() })
	}
	return st.Stmt.Close()
}

func newSession(ctx context.Context, pool *sqlx.DB, tables func(string) (changes, adds TableSet)) (*session, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: make(map[string]*statement), tables: tables}, nil
}

func (s *session) raw(fn func(driver any) error) error { return s.conn.Raw(fn) }

// isConnected reports whether the session has a connection. One without refuses every
// statement, and is there to say why (see Rx.returnSession).
func (s *session) isConnected() bool { return s.conn != nil }

// OnlyReads reports whether a statement can change nothing: it is a SELECT.
func OnlyReads(query string) bool {
	words := strings.Fields(query)
	return len(words) == 0 || strings.EqualFold(words[0], "select")
}

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

func (s *session) emptyLog() (emptied bool, err error) { return EmptyLog(context.Background(), s.conn) }

// checkpointAt says at how many pages of the log it is copied into the file; 0 for never.
func (s *session) checkpointAt(pages int) error {
	_, err := s.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", pages))
	return Translate(err)
}

// boundLimit finds a query's limits. They are hidden from the planner, which would choose its plan by them and
// so prepare the statement anew for each call: that takes longer than most queries do.
var boundLimit = regexp.MustCompile(`\b(LIMIT|OFFSET) (\?\d*)`)

// prepared returns the statement for query, preparing it the first time.
//
// Statements never see a caller's context: cancelling one would make SQLite
// roll back the whole transaction and run the next statement outside of any.
func (s *session) prepared(query string) (*statement, error) {
	return s.find(query, func(st *statement, text string) (err error) {
		st.Stmt, err = s.conn.PreparexContext(context.Background(), text)
		return err
	})
}

// find returns the statement for query, preparing it the first time.
func (s *session) find(query string, prepare func(st *statement, text string) error) (*statement, error) {
	if s.lost != nil {
		return nil, s.lost
	}
	if s.observe != nil {
		s.observe(query)
	}

	stmt, ok := s.stmts[query]
	if !ok {
		stmt = &statement{reads: OnlyReads(query)}
		stmt.changes, stmt.adds = s.tables(query)
		if err := prepare(stmt, boundLimit.ReplaceAllString(query, "$1 $2 + 0")); err != nil {
			return nil, s.translate(fmt.Errorf("prepare %q: %w", query, err))
		}
		s.stmts[query] = stmt
	}

	s.changed |= stmt.changes
	s.added |= stmt.adds
	return stmt, nil
}

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

// eachText reads the rows of a query that has one column, a text, until read wants no
// more. It runs the statement past database/sql, which takes a third of the time of a
// query for one row to look after connections, rows and types: here the connection is
// ours and the type is known. read must not use the session.
func (s *session) eachText(read func(text string) (more bool, err error), query string, args ...any) error {
	stmt, err := s.find(query, s.prepareDirect)
	if err != nil {
		return err
	}
	s.wrote = s.wrote || !stmt.reads

	if err := s.bind(args); err != nil {
		return err
	}
	err = s.conn.Raw(func(any) error {
		rows, err := stmt.direct.(driver.StmtQueryContext).QueryContext(context.Background(), s.bound)
		if err != nil {
			return err
		}
		return errors.Join(readTexts(rows, read), rows.Close())
	})
	return s.translate(err)
}

func (s *session) prepareDirect(st *statement, text string) error {
	st.conn = s.conn
	return s.conn.Raw(func(conn any) (err error) {
		st.direct, err = conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), text)
		return err
	})
}

func (s *session) bind(args []any) (err error) {
	s.bound = s.bound[:0]
	for i, arg := range args {
		value := driver.NamedValue{Ordinal: i + 1}
		switch a := arg.(type) {
		case int64, string:
			value.Value = a
		default:
			if value.Value, err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return err
			}
		}
		s.bound = append(s.bound, value)
	}
	return nil
}

// readTexts hands the only column of each row to read, until that wants no more.
func readTexts(rows driver.Rows, read func(text string) (more bool, err error)) error {
	var value [1]driver.Value
	for {
		if err := rows.Next(value[:]); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		text, ok := value[0].(string)
		if !ok {
			return fmt.Errorf("a %T in the place of a text", value[0])
		}

		if more, err := read(text); err != nil || !more {
			return err
		}
	}
}

// runOnce runs a statement whose text will not come again, and reads its rows to the end.
func (s *session) runOnce(query string) error {
	if s.lost != nil {
		return s.lost
	}
	changes, _ := s.tables(query)
	s.changed |= changes
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

func (s *session) reset() { s.lost, s.changed, s.added = nil, 0, 0 }

// begin starts a transaction; how is BEGIN or BEGIN IMMEDIATE.
func (s *session) begin(how string) error {
	s.reset()
	if len(s.stmts) > maxStatements {
		s.closeStatements()
	}
	_, err := s.exec(how)
	return err
}

// rollback ends the transaction without a trace. It fails, rightly, where SQLite was first.
func (s *session) rollback() error {
	s.lost = nil
	_, err := s.exec("ROLLBACK")
	return err
}

// translate turns an error into what storage promises, and remembers one that ends the transaction.
func (s *session) translate(err error) error {
	err = Translate(err)
	if errors.Is(err, ErrUnavailable) {
		s.lost = err
	}
	return err
}

// maxStatements is how many statements a session keeps prepared. There are fewer, but for lists,
// where each combination of filters is one.
const maxStatements = 500

func (s *session) closeStatements() {
	for _, stmt := range s.stmts {
		stmt.Close()
	}
	clear(s.stmts)
}

func (s *session) close() {
	s.closeStatements()
	s.conn.Close()
}
