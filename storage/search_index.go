package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// SearchFile is the name of the search index in the data directory.
const SearchFile = "search.db"

// searchVersion is that of the index's form; an index of another one is made anew.
const searchVersion = 1

// searchSchema makes the index. Words are those of search_words.go, each behind the key
// of its shard; of the texts nothing is kept.
const searchSchema = `
	PRAGMA journal_mode = WAL;
	BEGIN;
	CREATE VIRTUAL TABLE words USING fts5(word, content = '', contentless_delete = 1, tokenize = 'ascii');
	CREATE TABLE docs (
		docid   INTEGER PRIMARY KEY,
		shard   INTEGER NOT NULL,
		message TEXT    NOT NULL
	) STRICT;
	CREATE TABLE shards (
		id      INTEGER PRIMARY KEY AUTOINCREMENT,
		account INTEGER NOT NULL,
		first   INTEGER NOT NULL,
		docs    INTEGER NOT NULL
	) STRICT;
	CREATE INDEX shards_of_account ON shards (account, first);
	CREATE TABLE progress (
		id       INTEGER PRIMARY KEY CHECK (id = 1),
		position INTEGER NOT NULL,
		epoch    BLOB    NOT NULL
	) STRICT;
	INSERT INTO progress VALUES (1, 0, ?);
	PRAGMA user_version = 1;
	COMMIT;`

// SearchIndex finds messages by their words. It lies in a file of its own, which is
// derived from the database and follows it: no transaction that stores a message waits
// for it, a backup leaves it out, and whatever is wrong with it, it is made anew.
//
//   - What is new in messages is found by its number, behind the last one that is in the
//     index (progress.position). A trigger lists in search_changes what was changed or
//     deleted, and the highest number that was left then, because SQLite gives a number
//     out again when the newest row was deleted. Every 500 ms a step takes in what
//     there is of both, commits, and only then removes the changes from their list: after
//     a crash they are done once more, which changes nothing.
//   - A message is in the index under a docid of its own, which begins with the time in
//     the message's id. So the order of docids is that of the list of messages.
//   - The messages of an account are in shards of some ten thousands. A shard holds
//     those from its first docid to that of the next one. Each word is stored behind the
//     key of its shard, so that nobody's search reads what others wrote, and none reads
//     more than a shard at a time, however short a prefix is.
//   - What the index finds is held against the messages themselves (see says): what was
//     deleted, revoked or edited a moment ago is not found by what it said before.
//
// While the index is not complete, or does not work, the list is walked without it. An
// error other than a full disk means that the file is damaged: it is removed, and filled
// again while the server serves. Run does all of that, and is the only one to write;
// mu guards file against those who search at that moment.
type SearchIndex struct {
	db      *DB
	path    string
	onError func(error)

	mu   sync.RWMutex
	file *searchFile // nil while there is none that can be used

	suspect atomic.Pointer[error] // what a search could not read
}

// searchFile is an open index.
type searchFile struct {
	write, read *sqlx.DB
	info        os.FileInfo

	findDocs, insertWords, insertDoc *sqlx.Stmt

	complete bool             // has taken in all that there was; guarded by SearchIndex.mu
	position int64            // the number of the last message that is in it
	top      int64            // the highest docid
	newest   map[int64]*shard // of the accounts that were written to
}

const (
	// searchInterval is how often the index looks for what is new: a search is to be no
	// more than two seconds behind.
	searchInterval = 500 * time.Millisecond
	// searchRetry is how long it waits after an error.
	searchRetry = 2 * time.Second
	// searchReaders is how many look into the index at once.
	searchReaders = 2
)

// NewSearchIndex makes an index of a database, which Run opens and fills. onError is
// called with what went wrong, and was dealt with.
func NewSearchIndex(db *DB, path string, onError func(error)) *SearchIndex {
	x := &SearchIndex{db: db, path: path, onError: onError}
	db.index.Store(x)
	return x
}

// Run keeps the index up to date until ctx ends.
func (x *SearchIndex) Run(ctx context.Context) error {
	defer x.close()

	var failed error
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}

		began := time.Now()
		more, err := x.step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if failed == nil || failed.Error() != err.Error() {
				x.onError(err)
			}
			timer.Reset(searchRetry)
		case more: // others have as much of the machine as it had
			timer.Reset(time.Since(began))
		default:
			timer.Reset(searchInterval)
		}
		failed = err
	}
}

// IsComplete tells whether the index has taken in all that there was, so that searches
// use it.
func (x *SearchIndex) IsComplete() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file != nil && x.file.complete
}

// step opens the index if need be, and takes in some of what is new. It tells whether
// there is more.
func (x *SearchIndex) step(ctx context.Context) (more bool, err error) {
	if x.file != nil && !x.isInPlace() {
		x.onError(errors.New("the search index was removed, and is made anew"))
		x.close()
	}
	if x.file == nil {
		if err := x.open(ctx); err != nil {
			return false, err
		}
	}

	more, err = x.fill(ctx)
	if failed := x.suspect.Swap(nil); failed != nil && err == nil {
		err = *failed
	}
	if err == nil && !more {
		x.mu.Lock()
		x.file.complete = true
		x.mu.Unlock()
	}
	if isDamage(err) {
		x.discard()
		return true, fmt.Errorf("the search index is damaged, and is made anew: %w", err)
	}
	return more, err
}

// isDamage tells whether an error means that the index cannot be trusted. A full disk and
// a database that cannot be read just now will pass.
func isDamage(err error) bool {
	return err != nil && !errors.Is(sqlite.Translate(err), ErrUnavailable) && !errors.Is(err, errMainDatabase) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// errMainDatabase is what goes wrong with the database, not with its index.
var errMainDatabase = errors.New("read the messages for the search index")

// isInPlace tells whether the open file is still the one that has the name.
func (x *SearchIndex) isInPlace() bool {
	info, err := os.Stat(x.path)
	return err == nil && os.SameFile(info, x.file.info)
}

// open opens the index, and makes a new one if there is none that fits the database.
func (x *SearchIndex) open(ctx context.Context) error {
	var epoch [8]byte
	err := x.db.View(ctx, func(rx *Rx) (err error) {
		epoch, err = rx.Epoch()
		return err
	})
	if err != nil {
		return errors.Join(errMainDatabase, err)
	}

	f, err := openSearchFile(x.path, epoch)
	if isDamage(err) {
		if !errors.Is(err, os.ErrNotExist) {
			x.onError(fmt.Errorf("the search index cannot be used, and is made anew: %w", err))
		}
		f, err = createSearchFile(x.path, epoch)
	}
	if err != nil {
		return err
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.file = f
	return nil
}

// openSearchFile opens an index that was made before.
func openSearchFile(path string, epoch [8]byte) (f *searchFile, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}

	f = &searchFile{info: info, newest: make(map[int64]*shard)}
	if f.write, err = sqlx.Open("sqlite", searchDSN(path, "synchronous(FULL)", "wal_autocheckpoint(4000)")); err != nil {
		return nil, err
	}
	if f.read, err = sqlx.Open("sqlite", searchDSN(path, "query_only(ON)")); err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.write.SetMaxOpenConns(1)
	f.read.SetMaxOpenConns(searchReaders)

	var state struct {
		Version  int    `db:"user_version"`
		Position int64  `db:"position"`
		Epoch    []byte `db:"epoch"`
		Top      int64  `db:"top"`
	}
	err = f.write.Get(&state, `
		SELECT user_version, position, epoch, (SELECT coalesce(max(docid), 0) FROM docs) AS top
		FROM pragma_user_version, progress`)
	if err == nil && (state.Version != searchVersion || string(state.Epoch) != string(epoch[:])) {
		err = errors.New("it is of another version, or of another database")
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}

	f.position, f.top = state.Position, state.Top
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// prepare prepares what every message needs.
func (f *searchFile) prepare() (err error) {
	for into, query := range map[**sqlx.Stmt]string{
		&f.findDocs:    `SELECT docid, message FROM docs WHERE docid >= ? AND docid < ? ORDER BY docid`,
		&f.insertWords: `INSERT INTO words (rowid, word) VALUES (?, ?)`,
		&f.insertDoc:   `INSERT INTO docs (docid, shard, message) VALUES (?, ?, ?)`,
	} {
		if *into, err = f.write.Preparex(query); err != nil {
			return err
		}
	}
	return nil
}

// createSearchFile makes an empty index in the place of any that is there.
func createSearchFile(path string, epoch [8]byte) (*searchFile, error) {
	if err := removeSearchFile(path); err != nil {
		return nil, diskError(err)
	}

	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, diskError(err)
	}
	file.Close() // SQLite opens it again, and keeps its mode

	conn, err := sqlx.Open("sqlite", searchDSN(path))
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(searchSchema, epoch[:])
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, diskError(err)
	}
	return openSearchFile(path, epoch)
}

// removeSearchFile removes an index with all that SQLite keeps beside it.
func removeSearchFile(path string) error {
	var errs []error
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func searchDSN(path string, pragmas ...string) string {
	return sqlite.DSN(path, url.Values{"mode": {"rw"}, "_pragma": append(pragmas, "busy_timeout(5000)", "temp_store(MEMORY)")})
}

// close closes the index. Who searches then walks without it.
func (x *SearchIndex) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file != nil {
		_ = x.file.close() // nothing of it is needed any more
		x.file = nil
	}
}

// discard closes the index and removes it, so that the next step makes a new one.
func (x *SearchIndex) discard() {
	x.close()
	if err := removeSearchFile(x.path); err != nil {
		x.onError(err)
	}
}

func (f *searchFile) close() error {
	var errs []error
	for _, conn := range []*sqlx.DB{f.read, f.write} {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(errs...)
}

// SearchFacts are what there is to say of an index.
type SearchFacts struct {
	IsMissing bool
	Messages  int64 `db:"messages"` // that are in it
	Position  int64 `db:"position"` // the number of the last one
}

// InspectSearchIndex reads an index that others may use, and checks its pages.
func InspectSearchIndex(path string) (facts SearchFacts, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return SearchFacts{IsMissing: true}, nil
	}
	conn, err := sqlx.Open("sqlite", searchDSN(path, "query_only(ON)"))
	if err != nil {
		return facts, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	var version int
	if err := conn.Get(&version, `PRAGMA user_version`); err != nil {
		return facts, err
	}
	if version == 0 { // it is being made at this moment: what it has is committed at once
		return SearchFacts{IsMissing: true}, nil
	}

	var found string
	if err := conn.Get(&found, `PRAGMA quick_check(1)`); err != nil {
		return facts, err
	}
	if found != "ok" {
		return facts, errors.New(found)
	}
	err = conn.Get(&facts, `SELECT (SELECT count(*) FROM docs) AS messages, position FROM progress`)
	return facts, err
}

// CountUnindexed counts the messages behind the position of an index.
func (rx *Rx) CountUnindexed(position int64) (n int64, err error) {
	err = rx.Get(&n, `SELECT count(*) FROM messages WHERE number > ?`, position)
	return n, err
}
