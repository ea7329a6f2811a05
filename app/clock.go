package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// moveTime is how long a move of the clock waits for what becomes due. The rest starts afterwards.
const moveTime = 8 * time.Second

// errReplicaClock says why a sandbox with a replica keeps the time.
var errReplicaClock = errors.New("a clock that was moved cannot be replicated: take [replica] out of the settings")

// checkClock takes the offset of a sandbox's clock over from the database. Everybody else
// refuses a database whose clock was moved: its rows are from the future.
func (a *App) checkClock() error {
	ctx := context.Background()
	offset, err := storage.Query(ctx, a.DB, (*storage.Rx).ClockOffset)
	switch {
	case err != nil || offset == 0:
		return err
	case a.Clock == nil:
		return fmt.Errorf("the clock of %s was moved ahead by %s, which only 'confab sandbox' understands: "+
			"serve another data directory", string(a.dir), offset)
	case a.Config.Replica.URL != "":
		return errReplicaClock
	}
	return a.Clock.Restore(ctx, a.DB)
}

// MoveClock moves the clock of a sandbox ahead, and starts what becomes due, in order. It
// returns how many jobs were claimed. before is called with the time at which a job was due,
// before that starts.
func (a *App) MoveClock(ctx context.Context, by time.Duration, before func(time.Time)) (started int, err error) {
	if a.Config.Replica.URL != "" {
		return 0, errReplicaClock
	}

	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	return a.runner.MoveClock(ctx, queue.Move{
		By:     by,
		Apply:  func(ctx context.Context) error { return a.work.MoveClock(ctx, by) },
		Before: func(due storage.Time) { before(due.Std()) },
	})
}
