package main

import (
	"context"
	"fmt"
	"time"

	"confab/storage"
)

// pollTimeout is how long anything may take that is waited for. It is far more than any
// measurement needs: it ends one in which a job is stuck or has failed.
const pollTimeout = 10 * time.Minute

// poll calls done again and again, with pauses, until it returns true or an error.
func poll(ctx context.Context, pause time.Duration, done func() (bool, error)) error {
	for began := time.Now(); time.Since(began) < pollTimeout; {
		if ended, err := done(); err != nil || ended {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return fmt.Errorf("what was waited for did not happen within %s", pollTimeout)
}

// pollDatabase is poll for what a database shows.
func pollDatabase(ctx context.Context, db *storage.DB, pause time.Duration, done func(*storage.Rx) (bool, error)) error {
	return poll(ctx, pause, func() (isDone bool, err error) {
		err = db.View(ctx, func(rx *storage.Rx) (err error) {
			isDone, err = done(rx)
			return err
		})
		return isDone, err
	})
}
