package sqlite

import (
	"context"
	"net/url"

	"github.com/jmoiron/sqlx"
)

// logPatience is for how many milliseconds writes may wait for readers while the log is
// emptied. Only those count that began before and read from it: most are done by then.
const logPatience = "20"

// emptyLog copies the log into the file, and cuts the log to nothing.
const emptyLog = "PRAGMA wal_checkpoint(TRUNCATE)"

// EmptyLog empties the log of a file, in which what was deleted would otherwise stay until
// it is written over. It reports whether it could: it cannot while others read from the log.
func EmptyLog(ctx context.Context, conn sqlx.QueryerContext) (emptied bool, err error) {
	var busy, frames, copied int
	err = conn.QueryRowxContext(ctx, emptyLog).Scan(&busy, &frames, &copied)
	return err == nil && busy == 0, Translate(err)
}

// EmptyLog is the same for the log of the database. Writes wait meanwhile, but not for long:
// most is copied before, beside them, and a reader that takes its time is not waited for.
func (db *DB) EmptyLog(ctx context.Context) (emptied bool, err error) {
	if err := db.copyLog(ctx); err != nil {
		return false, err
	}

	var failed error
	err = db.Update(ctx, false, func(tx *Tx) error {
		tx.Wx.db.writer.between = func(s *session) { emptied, failed = s.emptyLog() }
		return nil
	})
	if err != nil {
		return false, err
	}
	return emptied, failed
}

// copyLog copies the log into the file, as far as no reader prevents it.
func (db *DB) copyLog(ctx context.Context) error {
	conn, err := sqlx.Open("sqlite", DSN(db.path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(0)"}}))
	if err != nil {
		return err
	}
	defer conn.Close()

	_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return Translate(err)
}
