package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
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
	Readers     int    // reading connections; 0 means one per core
	KeepVersion bool   // refuse an older file instead of upgrading it: another process serves it
	SkipCheck   bool   // do not verify the content: for commands, which start often
	OnCommit    func(Commit)
}

// DB is an open database: one writer, a few readers, and in memory what every
// message needs and rarely changes.
type DB struct {
	path     string
	pool     *sqlx.DB // reading connections
	write    *sqlx.DB // the one writing connection
	readers  chan *session
	seekers  chan *session // reading connections for searches alone
	writer   *writer
	ids      *idSource
	seal     *sealer
	memos    *memos
	onCommit func(Commit)
	walkTime time.Duration
	close    func() error // runs once

	mu         sync.RWMutex
	dispatcher Dispatcher

	closed closedLanes
}

// Open opens the database at o.Path, making it when there is none and bringing
// an older one up to date. It refuses any file that it cannot vouch for.
func Open(o Options) (*DB, error) {
	if err := addFunctions(); err != nil {
		return nil, err
	}
	seal, err := newSealer(o.MasterKey)
	if err != nil {
		return nil, err
	}
	if err := prepareFile(o, seal); err != nil {
		return nil, err
	}
	db := &DB{path: o.Path, ids: newIDSource(), seal: seal, memos: newMemos(), onCommit: o.OnCommit, walkTime: walkTime}
	db.close = sync.OnceValue(db.disconnect)
	if err := db.connect(o); err != nil {
		return nil, errors.Join(explain(o.Path, err), db.Close())
	}
	return db, nil
}

func (db *DB) connect(o Options) error {
	ctx := context.Background()
	var err error
	if db.write, err = sqlx.Open("sqlite", writerDSN(o)); err != nil {
		return err
	}
	s, err := newSession(ctx, db.write)
	if err != nil {
		return err
	}
	if err := s.useLog(); err != nil {
		s.close()
		return err
	}
	db.writer = newWriter(db, s)

	n := o.Readers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if db.pool, err = sqlx.Open("sqlite", readerDSN(o)); err != nil {
		return err
	}
	db.pool.SetMaxOpenConns(n + seekers)
	if db.readers, err = db.sessions(n); err != nil {
		return err
	}
	db.seekers, err = db.sessions(seekers)
	return err
}

// sessions opens n reading connections.
func (db *DB) sessions(n int) (chan *session, error) {
	all := make(chan *session, n)
	for range n {
		s, err := newSession(context.Background(), db.pool)
		if err != nil {
			close(all)
			for s := range all {
				s.close()
			}
			return nil, err
		}
		all <- s
	}
	return all, nil
}

// View runs fn on a consistent snapshot. It never waits for a writer, only for
// a free reading connection.
func (db *DB) View(ctx context.Context, fn func(*Rx) error) error {
	return db.read(ctx, db.readers, true, fn)
}

// Peek is View for an fn that reads once: one statement is consistent without a
// transaction around it.
func (db *DB) Peek(ctx context.Context, fn func(*Rx) error) error {
	return db.read(ctx, db.readers, false, fn)
}

// seekers is how many searches run at once.
const seekers = 2

// Search is View for lists that may pass over many rows to find a few. They have
// connections of their own, so that slow ones do not hold up all other reading.
func (db *DB) Search(ctx context.Context, fn func(*Rx) error) error {
	return db.read(ctx, db.seekers, true, fn)
}

// read runs fn on a free connection out of some, where it is to see one snapshot
// in a transaction.
func (db *DB) read(ctx context.Context, free chan *session, snapshot bool, fn func(*Rx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var s *session
	select {
	case s = <-free:
	default:
		select {
		case s = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s == nil {
		return fmt.Errorf("%w: the database is closed", ErrUnavailable)
	}
	defer func() { free <- s }()
	since := db.memos.changes.Load() // before the snapshot: see memo
	if !snapshot {
		s.renew()
		return fn(&Rx{db: db, s: s, since: since})
	}
	if err := s.begin("BEGIN"); err != nil {
		return err
	}
	defer func() {
		if end := s.rollback(); err == nil {
			err = end
		}
	}()
	return fn(&Rx{db: db, s: s, since: since})
}

// Size is how many bytes the database and its log take on disk.
func (db *DB) Size() int64 {
	var total int64
	for _, name := range []string{db.path, db.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
	}
	return total
}

// Close finishes the writes that were accepted and the views that run, and
// closes the file. Closing it again returns the same and does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) disconnect() error {
	if db.writer != nil {
		db.writer.close()
	}
	for _, all := range []chan *session{db.readers, db.seekers} {
		if all == nil {
			continue
		}
		for range cap(all) {
			s := <-all
			s.close()
		}
		close(all) // releases those that wait for one
	}
	var errs []error
	if db.pool != nil {
		errs = append(errs, db.pool.Close())
	}
	if db.write != nil {
		errs = append(errs, db.write.Close())
	}
	return errors.Join(errs...)
}

// currentDispatcher is the job runner, if there is one.
func (db *DB) currentDispatcher() Dispatcher {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.dispatcher
}

// dsn builds a data source name. The path goes through url.URL because '#', '?'
// and '%' in it would otherwise open another file.
func dsn(path string, query url.Values) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: abs, RawQuery: query.Encode()}
	return u.String()
}

func writerDSN(o Options) string {
	synchronous := "FULL"
	if o.Synchronous == "normal" {
		synchronous = "NORMAL"
	}
	return dsn(o.Path, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "foreign_keys(ON)", "synchronous(" + synchronous + ")",
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)", "temp_store(MEMORY)",
	}})
}

// readerDSN opens connections that cannot write, so that a mistake above storage
// cannot bypass the writer.
func readerDSN(o Options) string {
	return dsn(o.Path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "query_only(ON)", "temp_store(MEMORY)"}})
}
