package storage

import (
	"errors"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// epochName is the row of meta with the epoch: a random value that says in which file the
// numbers of events were given out. A restored backup gives out numbers again that
// clients have seen with other events, so it begins another epoch.
const epochName = "event_epoch"

const newEpoch = `INSERT OR REPLACE INTO meta (name, value) VALUES ('` + epochName + `', randomblob(8))`

// BeginEpoch begins another epoch in a database that no process has open, of any version.
func BeginEpoch(path string) error {
	return changeClosed(path, func(conn *sqlx.DB) error {
		_, err := conn.Exec(newEpoch)
		return err
	})
}

// EpochOf is the epoch of a database that no process has open, as Progress has it.
func EpochOf(path string) (epoch string, err error) {
	err = changeClosed(path, func(conn *sqlx.DB) error {
		return conn.Get(&epoch, `SELECT lower(hex(value)) FROM meta WHERE name = ?`, epochName)
	})
	return epoch, err
}

func changeClosed(path string, change func(*sqlx.DB) error) (err error) {
	conn := sqlite.Connect(sqlite.DSN(path, "rw", "busy_timeout(5000)", "synchronous(FULL)"))
	defer func() { err = errors.Join(err, conn.Close()) }()
	return sqlite.Explain(path, change(conn))
}

// restoredName is the row of meta that says when the file was restored, or noticed to be put back.
const restoredName = "restored_at"

// HoldRestored makes sure that nothing is sent by itself from a restored database, which
// no process has open, that should have been sent before, as HoldBack explains. What a server
// remembers of its progress was that of another directory. The file may be of any version.
func HoldRestored(path string) error {
	return changeClosed(path, func(conn *sqlx.DB) error {
		if _, err := conn.Exec(`DELETE FROM meta WHERE name = ?`, commitName); err != nil {
			return err
		}

		for _, h := range heldBack(Now(), Now()) {
			var has bool
			err := conn.Get(&has, `SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = ?)`, h.table, h.column)
			if err == nil && has {
				_, err = conn.Exec(h.query, h.args...)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// HoldBack begins another epoch in a database that is older than what was served, and makes
// sure that nothing is sent by itself that should have been sent before: its broadcasts are
// paused; of messages that were to be sent later those that are overdue will fail; and a
// message that is to be sent now may have been sent already, so that its job waits for a
// callback first.
func (tx *Tx) HoldBack() error {
	if err := tx.Run(newEpoch); err != nil {
		return err
	}
	for _, h := range heldBack(tx.Now, tx.Order) {
		if err := tx.Run(h.query, h.args...); err != nil {
			return err
		}
	}
	return tx.setMetaNumber(putBackName, int64(tx.Now))
}

// change is a statement, and the column that an older database may lack.
type change struct {
	table, column string
	query         string
	args          []any
}

// heldBack are the changes that hold back what a restored database would send. Rows may be
// dated ahead of the clock, and no change dates one back; jobs that are held have their place
// in the lane for a time, and all of them are due. So is what was due when the last job was made:
// the clock of the machine may have been ahead of this one's.
func heldBack(now, order Time) []change {
	return []change{
		{"meta", "name", `INSERT OR REPLACE INTO meta (name, value) VALUES (?, CAST(? AS BLOB))`, []any{restoredName, int64(now)}},
		{"broadcasts", "paused_reason", `
			UPDATE broadcasts
			SET status = 'paused', paused_reason = 'restored', updated_at = max(updated_at + 1, ?)
			WHERE status IN ('preparing', 'scheduled', 'running')
				OR status = 'paused' AND paused_reason = 'account_rate_limited' -- which would go on by itself
			`, []any{order}},
		{"jobs", "call_begun_at", `
			UPDATE jobs
			SET call_begun_at = ?1
			WHERE kind IN ('send', 'broadcast.send') AND call_begun_at = 0
				AND (state <> 'due' OR due_at <= max(?2, (SELECT max(created_at) FROM jobs)))`, []any{now, order}},
	}
}

// RestoredAt is when the file was restored from a backup or put back, 0 if it was not.
func (rx *Rx) RestoredAt() (Time, error) { return metaNumber[Time](rx, restoredName) }

// metaNumber reads a number of meta, 0 if there is none.
func metaNumber[T Time | int64](rx *Rx, name string) (T, error) {
	n, err := value[T](rx, `SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE name = ?`, name)
	return n, IgnoreNotFound(err)
}

func (tx *Tx) setMetaNumber(name string, n int64) error {
	return tx.Run(`INSERT OR REPLACE INTO meta (name, value) VALUES (?, CAST(? AS BLOB))`, name, n)
}

// Epoch is the epoch of this file. It stays the same while the file is open.
func (rx *Rx) Epoch() (epoch [8]byte, err error) {
	var value []byte
	err = rx.Scan([]any{&value}, `SELECT value FROM meta WHERE name = ?`, epochName)
	copy(epoch[:], value)
	return epoch, err
}
