package main

import (
	"context"
	"fmt"
	"time"
)

// queueTimeout is how long the queue may take to finish what it has. It is far more than
// any measurement needs: it ends one in which a job is stuck or was given up.
const queueTimeout = 10 * time.Minute

// pollQueue calls done again and again, with pauses, until it returns true or an error.
func pollQueue(ctx context.Context, pause time.Duration, done func() (bool, error)) error {
	for began := time.Now(); time.Since(began) < queueTimeout; {
		if ended, err := done(); err != nil || ended {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return fmt.Errorf("the queue did not come to rest within %s", queueTimeout)
}
