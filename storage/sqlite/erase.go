package sqlite

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// logPatience is for how many milliseconds writes may wait for readers while the log is
// emptied. Only those count that began before and read from it: most are done by then.
const logPatience = "20"

// connection runs statements: a pool of one, or what was taken of it.
type connection interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
}

// EmptyLog empties the log of a file, in which what was deleted would otherwise stay until
// it is written over, by the one connection that writes it. It reports whether it could: it
// cannot while others read from the log, for whom it does not wait long.
func EmptyLog(ctx context.Context, conn connection) (emptied bool, err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = "+logPatience); err != nil {
		return false, Translate(err)
	}
	var busy, frames, copied int
	err = conn.QueryRowxContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	_, errAfter := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA busy_timeout = "+busyTimeout)
	return err == nil && busy == 0, Translate(errors.Join(err, errAfter))
}

// EmptyLog is the same for the log of the database. Writes wait meanwhile, but not for long:
// most is copied before, beside them, and a reader that takes its time is not waited for.
func (db *DB) EmptyLog(ctx context.Context) (emptied bool, err error) {
	if err := db.copyLog(ctx); err != nil {
		return false, err
	}

	err = db.between(ctx, func(wr *writer) (err error) {
		emptied, err = wr.s.emptyLog()
		return err
	})
	return emptied, err
}

// copyLog copies the log into the file, as far as no reader prevents it.
func (db *DB) copyLog(ctx context.Context) error {
	conn := Connect(DSN(db.path, "rw", "busy_timeout(0)"))
	defer conn.Close()

	_, err := conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return Translate(err)
}
