package app

import (
	"context"
	"errors"
	"time"

	"confab/storage"
)

// eraseInterval is how often the log of the database is emptied, if anything was deleted
// that it may still hold. The guides promise ten seconds, and a reader may be in the way.
const eraseInterval = 3 * time.Second

// eraseDeleted empties the log of the database after deletions, until ctx ends.
func (a *App) eraseDeleted(ctx context.Context) error {
	erased := int64(-1) // a process that was killed may have left something
	tick := time.NewTicker(eraseInterval)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}

		now := a.DB.Erasures()
		if now == erased {
			continue
		}
		emptied, err := a.DB.EmptyLog(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			a.Log.Warn("what was deleted is still in the log of the database", "error", err)
		}
		if emptied {
			erased = now
		}
	}
}
