package storage

import (
	"errors"
	"net/url"

	"github.com/jmoiron/sqlx"
)

// epochName is the row of meta with the epoch: a random value that says in which file the
// numbers of events were given out. A restored backup gives out numbers again that
// clients have seen with other events, so it begins another epoch.
const epochName = "event_epoch"

// newEpoch begins another epoch.
const newEpoch = `INSERT OR REPLACE INTO meta (name, value) VALUES ('` + epochName + `', randomblob(8))`

// BeginEpoch begins another epoch in a database that nobody has open, of any version.
func BeginEpoch(path string) (err error) {
	conn, err := sqlx.Open("sqlite", dsn(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "synchronous(FULL)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)

	_, err = conn.Exec(newEpoch)
	return explain(path, err)
}

// Epoch is the epoch of this file. It stays the same while the file is open.
func (rx *Rx) Epoch() (epoch [8]byte, err error) {
	var value []byte
	err = rx.scan([]any{&value}, `SELECT value FROM meta WHERE name = ?`, epochName)
	copy(epoch[:], value)
	return epoch, err
}
