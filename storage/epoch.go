package storage

import (
	"errors"
	"net/url"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// epochName is the row of meta with the epoch: a random value that says in which file the
// numbers of events were given out. A restored backup gives out numbers again that
// clients have seen with other events, so it begins another epoch.
const epochName = "event_epoch"

// newEpoch begins another epoch.
const newEpoch = `INSERT OR REPLACE INTO meta (name, value) VALUES ('` + epochName + `', randomblob(8))`

// BeginEpoch begins another epoch in a database that nobody has open, of any version.
func BeginEpoch(path string) error {
	return changeClosed(path, func(conn *sqlx.DB) error {
		_, err := conn.Exec(newEpoch)
		return err
	})
}

// changeClosed changes a database that nobody has open.
func changeClosed(path string, change func(*sqlx.DB) error) (err error) {
	conn, err := sqlx.Open("sqlite", sqlite.DSN(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "synchronous(FULL)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)
	return sqlite.Explain(path, change(conn))
}

// restoredName is the row of meta that says when the file was restored from a backup.
const restoredName = "restored_at"

// HoldRestored makes sure that nothing is sent by itself from a restored database, which
// nobody has open, that should have been sent before: its broadcasts are paused, and of
// messages that were to be sent later those that are overdue will fail. It may be of any
// version.
func HoldRestored(path string) error {
	return changeClosed(path, func(conn *sqlx.DB) error {
		_, err := conn.Exec(`INSERT OR REPLACE INTO meta (name, value) VALUES (?, CAST(? AS BLOB))`, restoredName, int64(Now()))
		if err != nil {
			return err
		}

		var has bool
		err = conn.Get(&has, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'broadcasts')`)
		if err != nil || !has {
			return err
		}
		_, err = conn.Exec(`
			UPDATE broadcasts
			SET status = 'paused', paused_reason = 'restored', updated_at = ?
			WHERE status IN ('preparing', 'scheduled', 'running')
				OR status = 'paused' AND paused_reason = 'account_rate_limited' -- which would go on by itself
			`, Now())
		return err
	})
}

// RestoredAt is when the file was restored from a backup, 0 if it was not.
func (rx *Rx) RestoredAt() (at Time, err error) {
	err = rx.Scan([]any{&at}, `SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE name = ?`, restoredName)
	return at, IgnoreNotFound(err)
}

// Epoch is the epoch of this file. It stays the same while the file is open.
func (rx *Rx) Epoch() (epoch [8]byte, err error) {
	var value []byte
	err = rx.Scan([]any{&value}, `SELECT value FROM meta WHERE name = ?`, epochName)
	copy(epoch[:], value)
	return epoch, err
}
