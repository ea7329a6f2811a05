package app

import (
	"context"
	"errors"
	"time"

	"confab/storage"
)

const (
	// eraseInterval is how often the log of the database is emptied, if anything was deleted
	// that it may still hold. The guides promise ten seconds, and a reader may be in the way.
	eraseInterval = 3 * time.Second
	// eraseWait is the longest wait for a reader that stays: each try costs writes a moment.
	eraseWait = time.Minute
)

// eraseDeleted empties the log of the database after deletions, until ctx ends.
func (a *App) eraseDeleted(ctx context.Context) error {
	erased := int64(-1) // a process that was killed may have left something
	wait := eraseInterval
	timer := time.NewTimer(wait)
	defer timer.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}

		now, emptied := a.DB.Erasures(), true
		if now != erased {
			emptied = a.emptyLog(ctx)
		}
		if emptied {
			erased, wait = now, eraseInterval
		} else {
			wait = min(2*wait, eraseWait)
		}
		timer.Reset(wait)
	}
}

// emptyLog empties the log of the database, and reports whether it could.
func (a *App) emptyLog(ctx context.Context) bool {
	if a.replica != nil && a.replica.EmptyLog() {
		return true // who else empties the log makes the next copy of it a whole one
	}
	emptied, err := a.DB.EmptyLog(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Log.Warn("deleted data is still in the database's write-ahead log", "error", err)
	}
	return emptied
}
