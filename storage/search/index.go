// Package search is the full-text index of messages: a file of its own, derived from the
// database and never needed to be right.
//
// index.go opens it and keeps it up to date, fill.go adds new messages, find.go finds,
// words.go says what a word is.
package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// version is that of the index's form; an index of another one is made anew.
const version = 2

// schema makes the index. Words are those of words.go, each after the key of its shard.
// FTS5 removes words for good only when it is given them once more, so they are kept in the
// order of their text; what it would otherwise delete stays in its pages until it merges them.
const schema = `
	PRAGMA journal_mode = WAL;
	BEGIN;
	CREATE VIRTUAL TABLE words USING fts5(word, content = '', tokenize = 'ascii');
	INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
	CREATE TABLE docs (
		docid   INTEGER PRIMARY KEY,
		shard   INTEGER NOT NULL,
		message TEXT    NOT NULL
	) STRICT;
	CREATE TABLE texts (
		docid INTEGER PRIMARY KEY,
		words TEXT    NOT NULL -- without the key of their shard
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
	PRAGMA user_version = 2;
	COMMIT;`

// Index finds messages by their words. It lies in a file of its own, which is
// derived from the database and follows it: no transaction that stores a message waits
// for it, a backup leaves it out, and if anything is wrong with it, it is made anew.
//
//   - New messages are found by its number, after the last one that is in the
//     index (progress.position). A trigger lists in search_changes what was changed or
//     deleted, and the highest number that was left then, because SQLite gives a number
//     out again when the newest row was deleted. Every 500 ms a step takes in what
//     there is of both, commits, and only then removes the changes from their list: after
//     a crash they are done once more, which changes nothing.
//   - A message is in the index under a docid of its own, which begins with the time in
//     the message's id. So the order of docids is that of the list of messages.
//   - The messages of an account are in shards of some ten thousands. A shard holds
//     those from its first docid to that of the next one. Each word is stored after the
//     key of its shard, so that no search reads what other accounts wrote, or reads
//     more than a shard at a time, however short a prefix is.
//   - Text removed from the index leaves no byte in its file or its log, where pages
//     would otherwise hold it until they are used again.
//   - What the index finds is held against the messages themselves (see says): what was
//     deleted, revoked or edited a moment ago is not found by what it said before.
//
// While the index is not complete, or does not work, the list is walked without it. An
// error other than a full disk means that the file is damaged: it is removed, and filled
// again while the server serves. Run does all of that, and is the only one to write;
// mu guards file against those who search at that moment.
type Index struct {
	source   Source
	path     string
	idPrefix string // of the ids of messages
	onError  func(error)

	mu   sync.RWMutex
	file *file // nil while there is none that can be used

	suspect atomic.Pointer[error] // what a search could not read
}

type file struct {
	write, read *sqlx.DB
	info        os.FileInfo

	findDocs, insertWords, insertText, insertDoc *sqlx.Stmt

	complete bool             // has taken in all that there was; guarded by Index.mu
	inLog    bool             // what was taken out may still be in the log
	position int64            // the number of the last message that is in it
	top      int64            // the highest docid
	newest   map[int64]*shard // of the accounts that were written to
}

const (
	// interval is how often the index looks for messages: a search is two seconds behind at most.
	interval = 500 * time.Millisecond
	// retry is how long it waits after an error.
	retry = 2 * time.Second
	// readers is how many look into the index at once.
	readers = 2
)

// New makes an index, which Run opens and fills. onError gets what went wrong and was dealt with.
func New(source Source, path, idPrefix string, onError func(error)) *Index {
	return &Index{source: source, path: path, idPrefix: idPrefix, onError: onError}
}

// Run keeps the index up to date until ctx ends.
func (x *Index) Run(ctx context.Context) error {
	defer x.Close()

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
		more, err := x.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if failed == nil || failed.Error() != err.Error() {
				x.onError(err)
			}
			timer.Reset(retry)
		case more: // others have as much of the machine as it had
			timer.Reset(time.Since(began))
		default:
			timer.Reset(interval)
		}
		failed = err
	}
}

// IsComplete reports whether the index has taken in all there was, so that searches use it.
func (x *Index) IsComplete() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file != nil && x.file.complete
}

// Step opens the index if need be, and indexes some new messages. It reports if there are more.
func (x *Index) Step(ctx context.Context) (more bool, err error) {
	if x.file != nil && !x.isInPlace() {
		x.onError(errors.New("the search index was removed and is being rebuilt"))
		x.Close()
	}
	if x.file == nil {
		if err := x.open(ctx); err != nil {
			return false, err
		}
	}

	more, err = x.fill(ctx)
	if err == nil && !more && x.file.inLog { // which holds what was taken out, and cannot be emptied while somebody searches
		var emptied bool
		emptied, err = sqlite.EmptyLog(ctx, x.file.write)
		x.file.inLog = !emptied
	}
	if failed := x.suspect.Swap(nil); failed != nil && err == nil {
		err = *failed
	}
	if err == nil && !more {
		x.mu.Lock()
		x.file.complete = true
		x.mu.Unlock()
	}
	if isDamage(err) {
		x.Close()
		if err := removeFile(x.path); err != nil {
			x.onError(err)
		}
		return true, fmt.Errorf("the search index is damaged and is being rebuilt: %w", err)
	}
	return more, err
}

// isDamage reports whether an error means that the index cannot be trusted. A full disk and
// a database that cannot be read just now will pass.
func isDamage(err error) bool {
	return err != nil && !errors.Is(sqlite.Translate(err), sqlite.ErrUnavailable) && !errors.Is(err, errMainDatabase) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// errMainDatabase is what goes wrong with the database, not with its index.
var errMainDatabase = errors.New("read the messages for the search index")

func (x *Index) isInPlace() bool {
	info, err := os.Stat(x.path)
	return err == nil && os.SameFile(info, x.file.info)
}

// open opens the index, and makes a new one if there is none that fits the database.
func (x *Index) open(ctx context.Context) error {
	epoch, err := x.source.Epoch(ctx)
	if err != nil {
		return errors.Join(errMainDatabase, err)
	}

	f, err := openFile(x.path, epoch)
	if isDamage(err) {
		if !errors.Is(err, os.ErrNotExist) {
			x.onError(fmt.Errorf("the search index cannot be used and is being rebuilt: %w", err))
		}
		f, err = createFile(x.path, epoch)
	}
	if err != nil {
		return err
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.file = f
	return nil
}

func openFile(path string, epoch [8]byte) (f *file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}

	f = &file{
		info:   info,
		write:  connect(path, "synchronous(FULL)", "wal_autocheckpoint(4000)", "secure_delete(ON)"),
		read:   connect(path, "query_only(ON)"),
		newest: make(map[int64]*shard),
	}
	f.read.SetMaxOpenConns(readers)

	var state struct {
		Version  int    `db:"user_version"`
		Position int64  `db:"position"`
		Epoch    []byte `db:"epoch"`
		Top      int64  `db:"top"`
	}
	err = f.write.Get(&state, `
		SELECT user_version, position, epoch, (SELECT coalesce(max(docid), 0) FROM docs) AS top
		FROM pragma_user_version, progress`)
	if err == nil && (state.Version != version || string(state.Epoch) != string(epoch[:])) {
		err = errors.New("it is of another version, or of another database")
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}

	f.position, f.top = state.Position, state.Top
	f.inLog = true // of a process that was killed
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *file) prepare() (err error) {
	for into, query := range map[**sqlx.Stmt]string{
		&f.findDocs:    `SELECT docid, message FROM docs WHERE docid >= ? AND docid < ? ORDER BY docid`,
		&f.insertWords: `INSERT INTO words (rowid, word) VALUES (?, ?)`,
		&f.insertText:  `INSERT INTO texts (docid, words) VALUES (?, ?)`,
		&f.insertDoc:   `INSERT INTO docs (docid, shard, message) VALUES (?, ?, ?)`,
	} {
		if *into, err = f.write.Preparex(query); err != nil {
			return err
		}
	}
	return nil
}

// createFile makes an empty index in the place of any that is there.
func createFile(path string, epoch [8]byte) (*file, error) {
	if err := removeFile(path); err != nil {
		return nil, sqlite.DiskError(err)
	}

	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, sqlite.DiskError(err)
	}
	file.Close() // SQLite opens it again, and keeps its mode

	conn := connect(path)
	_, err = conn.Exec(schema, epoch[:])
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, sqlite.DiskError(err)
	}
	return openFile(path, epoch)
}

func removeFile(path string) error {
	var errs []error
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func connect(path string, pragmas ...string) *sqlx.DB {
	return sqlite.Connect(sqlite.DSN(path, "rw", append(pragmas, "busy_timeout(5000)", "temp_store(MEMORY)")...))
}

// Close closes the index. A search then walks without it.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file != nil {
		_ = x.file.close() // nothing of it is needed any more
		x.file = nil
	}
}

func (f *file) close() error { return errors.Join(f.read.Close(), f.write.Close()) }

// Facts are what there is to say of an index.
type Facts struct {
	IsMissing bool
	Messages  int64 `db:"messages"` // that are in it
	Position  int64 `db:"position"` // the number of the last one
}

// Inspect reads an index that others may use, and checks its pages.
func Inspect(path string) (facts Facts, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Facts{IsMissing: true}, nil
	}
	conn := connect(path, "query_only(ON)")
	defer func() { err = errors.Join(err, conn.Close()) }()

	var version int
	if err := conn.Get(&version, `PRAGMA user_version`); err != nil {
		return facts, err
	}
	if version == 0 { // it is being made at this moment: what it has is committed at once
		return Facts{IsMissing: true}, nil
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
