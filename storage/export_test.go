package storage

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// What the tests of package storage_test need and nobody else may have.

const (
	ApplicationID = applicationID
	QueueSize     = queueSize
	QueueWait     = queueWait
	MaxBatch      = maxBatch
)

// Exec runs a statement that no method runs.
func (tx *Tx) Exec(query string, args ...any) error {
	_, err := tx.exec(query, args...)
	return err
}

// Pragma runs a PRAGMA, which yields a row where others yield none.
func (tx *Tx) Pragma(text string) error {
	var ignored []string
	return tx.list(&ignored, text)
}

// List reads rows that no method reads.
func (rx *Rx) List(dest any, query string, args ...any) error { return rx.list(dest, query, args...) }

// Write tries on a reading connection what only the writer may do.
func (rx *Rx) Write(query string, args ...any) error {
	_, err := rx.s.exec(query, args...)
	return err
}

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

// ThreadState is what is kept of a conversation, as text.
func (rx *Rx) ThreadState(conversation string) (string, error) {
	s, err := rx.db.caches.states.find(rx, conversation)
	return s.status + " " + s.contact, err
}

// Watched are the tables of which rows are kept in memory.
func Watched() []string { return slices.Sorted(maps.Keys(cachedTables())) }

// KeptTogether tells whether what changes one of two tables empties the caches of both.
func KeptTogether(a, b string) bool { return cachedTables()[a] == cachedTables()[b] }

// Changes names the tables that a statement may change.
func Changes(query string) (names []string) {
	for _, name := range Watched() {
		if changedBy(query)&cachedTables()[name] != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Connection is the one that is read on, to be compared with others.
func (rx *Rx) Connection() any { return rx.s }

// Lost tells whether the session refuses statements until its next begin.
func (rx *Rx) Lost() bool { return rx.s.lost != nil }

// Plans runs fn and tells how SQLite executes each statement that fn used.
func (rx *Rx) Plans(fn func() error) (map[string]string, error) {
	return rx.explain(fn, "EXPLAIN QUERY PLAN ", "detail")
}

// Programs runs fn and tells the operations of each statement that fn used.
func (rx *Rx) Programs(fn func() error) (map[string]string, error) {
	return rx.explain(fn, "EXPLAIN ", "opcode")
}

func (rx *Rx) explain(fn func() error, how, column string) (map[string]string, error) {
	kept := rx.s.stmts
	rx.s.stmts = make(map[string]*statement)
	err := fn()
	used := rx.s.stmts
	rx.s.stmts = kept
	told := make(map[string]string)
	for query, stmt := range used {
		stmt.Close()
		if err != nil {
			continue
		}
		var rows *sqlx.Rows
		if rows, err = rx.s.conn.QueryxContext(context.Background(), how+query, make([]any, strings.Count(query, "?"))...); err != nil {
			return nil, err
		}
		var lines []string
		for rows.Next() {
			row := make(map[string]any)
			if err := rows.MapScan(row); err != nil {
				return nil, err
			}
			lines = append(lines, fmt.Sprint(row[column]))
		}
		rows.Close()
		told[query] = strings.Join(lines, "\n")
	}
	return told, err
}

// Migrate brings a file to version newest with invented migrations.
func Migrate(o Options, files fs.FS, newest int) error { return migrate(o, files, newest) }

// Migrations are the ones built in.
func Migrations() (fs.FS, error) { return fs.Sub(migrationFiles, "migrations") }

// IDSource makes ids from a clock that had been ahead by so many milliseconds.
func IDSource(aheadMS uint64) func() string {
	s := newIDSource()
	s.next()
	s.lastMS += aheadMS
	return s.next
}

// SpendMillisecond leaves the id source without room in its millisecond.
func SpendMillisecond(spend func(next func() string)) error {
	s := newIDSource()
	s.entropy.Reader = full{}
	s.lastMS = 1 << 47 // far ahead, so that the clock does not move it
	spend(s.next)
	if s.lastMS == 1<<47 {
		return fmt.Errorf("the millisecond was not used up")
	}
	return nil
}

// full yields the greatest start there is, and steps that overflow it.
type full struct{}

func (full) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	if len(p) == 4 {
		p[3] = 0x7f
	}
	return len(p), nil
}

// SetWalkTime sets how long a list may look at rows in vain.
func (db *DB) SetWalkTime(d time.Duration) { db.scanTime = d }

// Readers are the ways to read rows, each as it would run a statement that also
// changes them and returns one text.
func Readers() map[string]func(tx *Tx, query string) error {
	return map[string]func(tx *Tx, query string) error{
		"get":  func(tx *Tx, query string) error { return tx.get(new(string), query) },
		"scan": func(tx *Tx, query string) error { return tx.scan([]any{new(string)}, query) },
		"list": func(tx *Tx, query string) error { return tx.list(new([]string), query) },
		"scanAll": func(tx *Tx, query string) error {
			_, err := scanAll(&tx.Rx, func(s *string) []any { return []any{s} }, query)
			return err
		},
		"eachText": func(tx *Tx, query string) error {
			return tx.s.eachText(func(string) (bool, error) { return true, nil }, query)
		},
	}
}

// ScanPacked reads the only row of a query whose column is packed.
func (rx *Rx) ScanPacked(dest []any, query string, args ...any) error {
	return rx.scanPacked(dest, query, args...)
}

// Unpack takes a packed row apart.
func Unpack(text string, dest ...any) error { return new(unpacker).unpack(text, dest) }

// SetTurnTime sets how long a search reads before it offers its connection.
func (db *DB) SetTurnTime(d time.Duration) { db.turnTime = d }

// Pause is what methods do that walk over many rows.
func (rx *Rx) Pause() error { return rx.pause() }

// SearchesWaiting is how many searches of an organization wait.
func (db *DB) SearchesWaiting(organization int64) int {
	db.searches.mu.Lock()
	defer db.searches.mu.Unlock()
	if l := db.searches.lines[organization]; l != nil {
		return len(l.waiting)
	}
	return 0
}

const (
	MaxSearches        = maxSearches
	MaxWaitingSearches = maxWaitingSearches
	DeliveriesAtOnce   = deliveriesAtOnce
	FirstRange         = firstRange
)

// SetSearches sets how many searches run at once from now on: fewer than before.
func (db *DB) SetSearches(n int) {
	db.searches.mu.Lock()
	defer db.searches.mu.Unlock()
	db.searches.places = n
}

// Turns shares places.
type Turns struct{ t *turns }

func NewTurns(places, maxWaiting int) Turns { return Turns{newTurns(places, maxWaiting)} }

func (t Turns) Take(ctx context.Context, organization int64) error {
	return t.t.take(ctx, organization)
}
func (t Turns) Release(organization int64) { t.t.release(organization) }
func (t Turns) Close()                     { t.t.close() }

func (t Turns) Yield(ctx context.Context, organization int64, long bool) error {
	return t.t.yield(ctx, organization, long)
}

// Lines is how many organizations are remembered.
func (t Turns) Lines() int { return len(t.t.lines) }
