package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// CopyDatabase writes a consistent copy of the database at path to the empty
// file target: all that was committed when it began, and nothing after. Others
// may go on writing meanwhile. progress is called with how many bytes are there,
// of about how many.
//
// It is one read transaction. SQLite's stepped backup would begin anew with
// every commit of another process.
func CopyDatabase(ctx context.Context, path, target string, progress func(done, total int64)) (err error) {
	if err := InspectHeader(path); err != nil {
		return err
	}

	// VACUUM INTO needs a connection that may write, though it changes only target.
	conn := Connect(DSN(path, "rw", "busy_timeout(5000)", "temp_store(MEMORY)"))
	defer func() { err = errors.Join(err, conn.Close()) }()

	var total int64
	err = conn.GetContext(ctx, &total, `
		SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil {
		return Explain(path, err)
	}

	// SQLite reports no progress of its own, so the growing file is watched.
	report := func() {
		size := fileSize(target)
		progress(size, max(size, total))
	}
	err = watch(100*time.Millisecond, report, func() error {
		_, err := conn.ExecContext(ctx, "VACUUM INTO ?", target)
		return err
	})
	if err != nil {
		return Explain(path, err)
	}
	return syncFile(target)
}

// CheckDatabase reads all of a database that this process does not have open, and says what is wrong with it:
// pages, indexes, references, the program it belongs to, and with a key whether that is its own.
func (f Format) CheckDatabase(path string, masterKey []byte) (err error) {
	if err := InspectHeader(path); err != nil {
		return err
	}
	conn := OpenCopy(path)
	defer func() { err = errors.Join(err, conn.Close()) }()

	o := Options{Path: path}
	version, err := f.schemaVersion(conn, o)
	if err != nil {
		return Explain(path, err)
	}

	if err := f.checkEverything(conn, path, version); err != nil {
		return err
	}

	if masterKey == nil {
		return nil
	}

	seal, err := newSealer(masterKey)
	if err != nil {
		return err
	}
	return f.checkMasterKey(conn, o, seal)
}

// OpenCopy opens a file that no one changes. It must be one that could be
// written: in others SQLite does not check the CHECK constraints.
func OpenCopy(path string) *sqlx.DB {
	return Connect(DSN(path, "rw", "query_only(ON)", "temp_store(MEMORY)"))
}

// checkEverything is SQLite's full check, that of references, and the owner's of rows.
func (f Format) checkEverything(conn *sqlx.DB, path string, version int) error {
	var found []string
	if err := conn.Select(&found, "PRAGMA integrity_check(10)"); err != nil {
		return Explain(path, err)
	}
	if len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("%s is corrupt: %s", path, strings.ReplaceAll(strings.Join(found, "; "), "\n", "; "))
	}

	var broken []string
	err := conn.Select(&broken, `
		SELECT "table" || ' → ' || parent || ': ' || count(*)
		FROM pragma_foreign_key_check
		GROUP BY "table", parent`)
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("%s has rows that point to nothing: %s", path, strings.Join(broken, "; "))
	}
	if err != nil {
		return err
	}
	return f.CheckRows(conn, path, version)
}

// syncFile makes a file durable, or the names in a directory.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// watch does some work and reports now and then until it is done.
func watch(every time.Duration, report func(), work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()

	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			report()
		}
	}
}
