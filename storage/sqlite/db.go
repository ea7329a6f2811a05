package sqlite

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // registers the driver
)

// Options say how to open a database.
type Options struct {
	Path        string // the database file
	Schema      string // the text of schema.sql
	MasterKey   []byte // 32 bytes; see LoadMasterKey
	Synchronous string // "full" (also if empty) or "normal"
	Readers     int    // connections that read lists; 0 means one per core. Short reads have one more
	Served      bool   // another process serves the file: refuse an older one, and wait longer for its writes
	SkipCheck   bool   // do not verify the content: for commands, which start often
	OnCommit    func(Commit)
	OnUpgrade   func(progress string) // says in words how far the upgrade of an older file is
	Now         func() Time           // what the clock says; nil asks the machine

	// Patience is how long a patient Update waits for the commit of another; 0: not at all.
	Patience time.Duration
}

// Hooks are what the owner of a database does while others use it. All but Classify run
// on the writer's goroutine, and each must be set.
type Hooks struct {
	// Classify says which of the tables that the owner watches a statement may change,
	// and to which it only adds rows. It is asked once for each text and connection.
	Classify func(query string) (changes, adds TableSet)
	// Begin is called before the closures of a transaction run, also when they run again.
	Begin func()
	// BeforeCommit writes what the closures of a transaction have in common.
	BeforeCommit func(*Wx) error
	// Committed is called with what a transaction has changed, before anybody is answered.
	Committed func(changed TableSet)
	// ChangedElsewhere is called when another process has committed something.
	ChangedElsewhere func()
	// OtherCommits reads how many transactions other processes of ours have committed.
	OtherCommits func(Rx) (int64, error)
}

// TableSet is a set of tables that the owner of a database watches.
type TableSet uint

// DB is an open database: the connection that writes, which is the writer's, and some that read.
type DB struct {
	path        string
	hooks       Hooks
	pool        *sqlx.DB       // reading connections
	write       *sqlx.DB       // the one writing connection
	readers     *freeSessions  // one more than there are lists at once
	lists       *FairSemaphore // whose lists are read
	searchConns *freeSessions  // likewise, for searches alone
	searches    *FairSemaphore
	writer      *writer
	emptying    sync.Mutex // held by between: the writer knows of one
	ids         *order     // of what is not stored in the transaction that makes it
	rows        *order     // of rows; only the writer makes their ids
	seal        *sealer
	patience    time.Duration
	onCommit    func(Commit)
	now         func() Time
	scanTime    time.Duration
	turnTime    time.Duration
	stalled     atomic.Pointer[time.Time] // see StalledAt
	changes     atomic.Int64              // see Changes
	close       func() error              // disconnect, but only once
}

// Open opens the database at o.Path, making it when there is none and bringing
// an older one up to date. It refuses any file that it cannot vouch for.
func Open(o Options, f Format, h Hooks) (*DB, error) {
	seal, err := newSealer(o.MasterKey)
	if err != nil {
		return nil, err
	}
	if err := f.prepareFile(o, seal); err != nil {
		return nil, err
	}

	db := &DB{
		path:     o.Path,
		hooks:    h,
		ids:      newOrder(),
		rows:     newOrder(),
		seal:     seal,
		patience: o.Patience,
		onCommit: o.OnCommit,
		now:      o.Now,
		scanTime: scanTime,
		turnTime: turnTime,
	}
	if db.now == nil {
		db.now = Now
	}
	db.close = sync.OnceValue(db.disconnect)
	if err := db.connect(o); err != nil {
		return nil, errors.Join(Explain(o.Path, err), db.Close())
	}

	return db, nil
}

// connect opens the writing connection and the reading ones. Those cannot write, so that a mistake
// above storage cannot bypass the writer.
func (db *DB) connect(o Options) error {
	n := o.Readers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	db.lists, db.searches = NewFairSemaphore(n, 0), NewFairSemaphore(MaxSearches, MaxWaitingSearches)
	db.write = Connect(writerDSN(o, "rw"))
	db.pool = Connect(DSN(o.Path, "rw", "busy_timeout(5000)", "query_only(ON)", "temp_store(MEMORY)"))
	db.pool.SetMaxOpenConns(n + 1 + MaxSearches)

	s, err := newSession(context.Background(), db.write, db.hooks.Classify)
	if err != nil {
		return err
	}
	if err := s.useLog(); err != nil {
		s.close()
		return err
	}
	db.writer = newWriter(db, s)

	if db.readers, err = openSessions(db.pool, n+1, db.hooks.Classify); err != nil {
		return err
	}
	db.searchConns, err = openSessions(db.pool, MaxSearches, db.hooks.Classify)
	return err
}

// Now is what the clock says, which transactions are dated by. The clock may
// be set at any moment: only time.Since says how much time has passed.
func (db *DB) Now() Time { return db.now() }

// Changes is how many commits of this process have changed something.
func (db *DB) Changes() int64 { return db.changes.Load() }

// Size is how many bytes the database and its log take on disk.
func (db *DB) Size() int64 { return fileSize(db.path) + logSize(db.path) }

// Close finishes the writes that were accepted and the views that run. Twice is as once.
func (db *DB) Close() error { return db.close() }

// disconnect waits for all users of connections and closes those; after a failed Open some.
func (db *DB) disconnect() error {
	if db.writer != nil {
		db.writer.close()
	}
	db.lists.Close()
	db.searches.Close()
	for _, sessions := range []*freeSessions{db.readers, db.searchConns} {
		if sessions != nil {
			sessions.close()
		}
	}
	return errors.Join(db.pool.Close(), db.write.Close())
}

// DSN builds a data source name. The path goes through url.URL because '#', '?'
// and '%' in it would otherwise open another file.
func DSN(path, mode string, pragmas ...string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	u := url.URL{Scheme: "file", OmitHost: true, Path: abs, RawQuery: query.Encode()}
	return u.String()
}

// Connect makes a pool of one connection, which the first statement opens.
func Connect(dsn string) *sqlx.DB {
	pool := sqlx.MustOpen("sqlite", dsn) // it could only not know the driver
	pool.SetMaxOpenConns(1)
	return pool
}

// busyTimeout is for how many milliseconds a connection waits for another process. A command
// beside a server that writes all the time gets its turn by chance, so it waits longer.
const (
	busyTimeout       = "5000"
	servedBusyTimeout = "60000"
)

// logPages is how many pages the log may have before the writer copies them into the file.
const logPages = 4000

// writerDSN opens the connection that writes. What it deletes it overwrites, in freed pages
// too: gone means gone. That costs nothing but in the pages that become free.
func writerDSN(o Options, mode string) string {
	synchronous := "FULL"
	if o.Synchronous == "normal" {
		synchronous = "NORMAL"
	}
	timeout := busyTimeout
	if o.Served {
		timeout = servedBusyTimeout
	}

	return DSN(o.Path, mode, "busy_timeout("+timeout+")", "foreign_keys(ON)", "synchronous("+synchronous+")",
		"wal_autocheckpoint("+strconv.Itoa(logPages)+")", "journal_size_limit(67108864)", "temp_store(MEMORY)", "secure_delete(ON)",
	) + "&_txlock=immediate"
}
