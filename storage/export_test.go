package storage

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// What the tests of package storage_test need and no other code may use.

const (
	ApplicationID = sqlite.ApplicationID
	QueueSize     = sqlite.QueueSize
	MasterKeySize = sqlite.MasterKeySize
)

// Pragma runs a PRAGMA, which yields a row where others yield none.
func (tx *Tx) Pragma(text string) error {
	var ignored []string
	return tx.List(&ignored, text)
}

// Write tries on a reading connection what only the writer may do.
func (rx *Rx) Write(query string, args ...any) error { return rx.List(new([]string), query, args...) }

// UnreadAfter and MarkUnread are two steps of what deletes messages.
func (rx *Rx) UnreadAfter(conversation string, last Row, keepPending bool, limit int) (UnreadCount, error) {
	u, err := rx.unreadAfter(conversation, last, keepPending, limit)
	if err == ErrNotFound {
		err = nil // the conversation is empty
	}
	return u, err
}

func (tx *Tx) MarkUnread(left map[string]UnreadCount) error { return tx.markUnread(left) }

// KeptPrincipals is how many keys are kept in memory.
func (db *DB) KeptPrincipals() int { return len(db.caches.principals.entries) }

// KeptThreads is how much of threads is kept in memory.
func (db *DB) KeptThreads() int {
	return len(db.caches.recipients.entries) + len(db.caches.threads.entries) + len(db.caches.states.entries)
}

// ThreadState is the stored state of a conversation, as text.
func (rx *Rx) ThreadState(conversation string) (string, error) {
	s, err := rx.db.caches.states.find(rx, conversation)
	return s.status + " " + s.contact, err
}

// Watched are the tables of which rows are kept in memory.
func Watched() []string { return slices.Sorted(maps.Keys(cachedTables())) }

// KeptTogether reports whether what changes one of two tables empties the caches of both.
func KeptTogether(a, b string) bool { return cachedTables()[a] == cachedTables()[b] }

// Changes names the tables that a statement may change.
func Changes(query string) (names []string) {
	for _, name := range Watched() {
		if changes, _ := classify(query); changes&cachedTables()[name] != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Connection is the one that is read on, to be compared with others.
func (rx *Rx) Connection() (connection any) {
	_ = rx.Raw(func(driver any) error { connection = driver; return nil })
	return connection
}

// Lost reports whether the session refuses statements until its next begin.
func (rx *Rx) Lost() bool { return rx.List(new([]int), `SELECT 1`) != nil }

// Plans runs fn and says how SQLite executes each statement that fn used.
func (rx *Rx) Plans(fn func() error) (map[string]string, error) {
	return rx.explain(fn, "EXPLAIN QUERY PLAN ", "detail")
}

// Programs runs fn and returns the operations of each statement that fn used.
func (rx *Rx) Programs(fn func() error) (map[string]string, error) {
	return rx.explain(fn, "EXPLAIN ", "opcode")
}

func (rx *Rx) explain(fn func() error, how, column string) (map[string]string, error) {
	used := make(map[string]bool)
	rx.Observe(func(query string) { used[query] = true })
	err := fn()
	rx.Observe(nil)
	if err != nil {
		return nil, err
	}

	told := make(map[string]string)
	for query := range used {
		var rows []map[string]any
		if rows, err = rx.explainOne(how+query, strings.Count(query, "?")); err != nil {
			return nil, err
		}
		var lines []string
		for _, row := range rows {
			lines = append(lines, fmt.Sprint(row[column]))
		}
		told[query] = strings.Join(lines, "\n")
	}
	return told, nil
}

func (rx *Rx) explainOne(query string, args int) (all []map[string]any, err error) {
	err = rx.Raw(func(conn any) error {
		none := make([]driver.NamedValue, args)
		for i := range none {
			none[i].Ordinal = i + 1
		}
		rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), query, none)
		if err != nil {
			return err
		}
		defer rows.Close()
		for {
			values := make([]driver.Value, len(rows.Columns()))
			if err := rows.Next(values); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			row := make(map[string]any)
			for i, name := range rows.Columns() {
				row[name] = values[i]
			}
			all = append(all, row)
		}
	})
	return all, err
}

// Migrate brings a file to version newest with invented migrations.
func Migrate(o Options, files fs.FS, newest int) error {
	format := fileFormat()
	format.Migrations, format.Version = files, newest
	return format.Migrate(o)
}

// Migrations are the ones built in.
func Migrations() (fs.FS, error) { return fs.Sub(migrationFiles, "migrations") }

// SetWalkTime sets how long a list may look at rows in vain.
func (db *DB) SetWalkTime(d time.Duration) { db.SetScanTime(d) }

// Readers are the ways to read rows, each as it would run a statement that also
// changes them and returns one text.
func Readers() map[string]func(tx *Tx, query string) error {
	return map[string]func(tx *Tx, query string) error{
		"get":  func(tx *Tx, query string) error { return tx.Get(new(string), query) },
		"scan": func(tx *Tx, query string) error { return tx.Scan([]any{new(string)}, query) },
		"list": func(tx *Tx, query string) error { return tx.List(new([]string), query) },
		"scanAll": func(tx *Tx, query string) error {
			_, err := sqlite.ScanAll(&tx.Rx.Rx, func(s *string) []any { return []any{s} }, query)
			return err
		},
		"scanPacked": func(tx *Tx, query string) error {
			return tx.ScanPacked([]any{new(string)}, strings.Replace(query, "RETURNING name", "RETURNING json_array(name)", 1))
		},
	}
}

const (
	MaxSearches        = sqlite.MaxSearches
	MaxWaitingSearches = sqlite.MaxWaitingSearches
	DeliveriesAtOnce   = deliveriesAtOnce
	FirstRange         = sqlite.FirstRange
)

// EachSpellInSteps is EachSpell with so many of each sort in a step.
func (rx *Rx) EachSpellInSteps(account int64, from, before Time, by SpellKey, atOnce int, fn func(SpellFigures) error) error {
	return rx.eachSpell(account, from, before, by, atOnce, fn)
}
