package storage

import (
	"cmp"
	"errors"

	"github.com/jmoiron/sqlx"

	"confab/storage/sqlite"
)

// CopyFacts are what a backup reports about a copy of the database.
type CopyFacts struct {
	SchemaVersion int   `db:"schema_version"`
	Messages      int64 `db:"messages"`
	Queued        int64 `db:"queued"` // messages that were still to be sent
	Files         int64 `db:"files"`
	FileBytes     int64 `db:"file_bytes"`
}

// ReadCopy reads facts about a copy, and hands the hash of each file that it names to each.
func ReadCopy(path string, each func(sum string) error) (facts CopyFacts, err error) {
	conn := sqlite.OpenCopy(path)
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

	for rows.Next() && err == nil {
		var sum string
		if err = rows.Scan(&sum); err == nil {
			err = each(sum)
		}
	}
	return facts, cmp.Or(err, rows.Err())
}

// ForgetSignIns deletes the sessions, devices and invitations of people from a copy that no one
// else has open. A copy of an older schema has none.
func ForgetSignIns(path string) error {
	return emptyTables(path, "push_times", "push_devices", "user_sessions", "user_invitations")
}

// ForgetInvitations deletes the invitations of people from a copy that no one else has open.
func ForgetInvitations(path string) error { return emptyTables(path, "user_invitations") }

func emptyTables(path string, tables ...string) error {
	return changeClosed(path, func(conn *sqlx.DB) error {
		for _, table := range tables {
			var exists bool
			err := conn.Get(&exists, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)`, table)
			if err == nil && exists {
				_, err = conn.Exec(`DELETE FROM ` + table)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
