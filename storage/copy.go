package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	if err := inspectHeader(path); err != nil {
		return err
	}

	// VACUUM INTO needs a connection that may write, though it changes only target.
	conn, err := sqlx.Open("sqlite", dsn(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "temp_store(MEMORY)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)

	var total int64
	err = conn.GetContext(ctx, &total, `
		SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil {
		return explain(path, err)
	}

	// SQLite reports no progress of its own, so the growing file is watched.
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, "VACUUM INTO ?", target)
		done <- err
	}()

	if err := watchFile(done, target, func(size int64) { progress(size, max(size, total)) }); err != nil {
		return explain(path, err)
	}
	return syncFile(target)
}

// CopyFacts are what a backup tells about a copy of the database.
type CopyFacts struct {
	SchemaVersion int   `db:"schema_version"`
	Messages      int64 `db:"messages"`
	Queued        int64 `db:"queued"` // messages that were still to be sent
	Files         int64 `db:"files"`
	FileBytes     int64 `db:"file_bytes"`
}

// ReadCopy reads facts about a copy that nobody else has open, and hands the
// hash of each file that it names to each, in order.
func ReadCopy(path string, each func(sum string) error) (facts CopyFacts, err error) {
	conn, err := openCopy(path)
	if err != nil {
		return facts, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	err = conn.Get(&facts, `
		SELECT user_version AS schema_version,
			(SELECT count(*) FROM messages) AS messages,
			(SELECT count(*) FROM messages WHERE status IN ('queued', 'pending')) AS queued,
			(SELECT count(DISTINCT sha256) FROM media) AS files,
			(SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha256, size FROM media)) AS file_bytes
		FROM pragma_user_version`)
	if err != nil || each == nil {
		return facts, err
	}

	rows, err := conn.Query(`SELECT DISTINCT sha256 FROM media ORDER BY sha256`)
	if err != nil {
		return facts, err
	}
	defer rows.Close()

	for rows.Next() {
		var sum string
		if err := rows.Scan(&sum); err != nil {
			return facts, err
		}
		if err := each(sum); err != nil {
			return facts, err
		}
	}
	return facts, rows.Err()
}

// CheckDatabase reads all of a database, a copy or one that others use, and says
// what is wrong with it, if anything: its pages, its indexes, its references, the
// program it belongs to, and with a key whether it was made with that one. This
// process must not have it open.
func CheckDatabase(path string, masterKey []byte) (err error) {
	if err := inspectHeader(path); err != nil {
		return err
	}
	conn, err := openCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	o := Options{Path: path}
	version, err := schemaVersion(conn, o, SchemaVersion)
	if err != nil {
		return explain(path, err)
	}

	if err := checkEverything(conn, path, version); err != nil {
		return err
	}

	if masterKey == nil {
		return nil
	}

	seal, err := newSealer(masterKey)
	if err != nil {
		return err
	}
	return checkMasterKey(conn, o, seal)
}

// openCopy opens a file that nobody changes. It must be one that could be
// written: in others SQLite does not check the CHECK constraints.
func openCopy(path string) (*sqlx.DB, error) {
	conn, err := sqlx.Open("sqlite", dsn(path, url.Values{"mode": {"rw"}, "_pragma": {"query_only(ON)", "temp_store(MEMORY)"}}))
	if err == nil {
		conn.SetMaxOpenConns(1)
	}
	return conn, err
}

// ForgetSignIns deletes the sessions and invitations of people from a copy that nobody
// else has open. A copy of an older schema has none.
func ForgetSignIns(path string) (err error) {
	conn, err := sqlx.Open("sqlite", dsn(path, url.Values{"mode": {"rw"}, "_pragma": {"temp_store(MEMORY)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)

	for _, table := range []string{"user_sessions", "user_invitations"} {
		var exists bool
		err := conn.Get(&exists, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)`, table)
		if err == nil && exists {
			_, err = conn.Exec(`DELETE FROM ` + table)
		}
		if err != nil {
			return explain(path, err)
		}
	}
	return nil
}

// checkEverything is SQLite's own full check, that of references, and ours of the rows
// that SQLite does not check.
func checkEverything(conn *sqlx.DB, path string, version int) error {
	var found []string
	if err := conn.Select(&found, "PRAGMA integrity_check(10)"); err != nil {
		return explain(path, err)
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
	return checkRows(conn, path, version)
}

// syncFile makes a file durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// watchInterval is how often a growing file is looked at.
const watchInterval = 100 * time.Millisecond

// watchFile reports how large a file has become until the work on it is done.
func watchFile(done <-chan error, path string, report func(size int64)) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()

	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if info, err := os.Stat(path); err == nil {
				report(info.Size())
			}
		}
	}
}
