package sqlite

import (
	"errors"
	"time"
)

// longCommit is how long a commit takes at the least to count as a stall: another process
// held the file, or the disk did not answer.
const longCommit = 3 * time.Second

// noteStall remembers that nothing could be stored for a while, if a batch shows it.
func (wr *writer) noteStall(batch []*write, took time.Duration) {
	if took < longCommit && !errors.Is(batch[0].err, ErrUnavailable) {
		return
	}
	now := time.Now()
	wr.db.stalled.Store(&now)
}

// StalledAt returns when the disk was last full, or a commit took very long, or the zero time. Callbacks
// received until then may have been refused, and are sent again later.
func (db *DB) StalledAt() time.Time {
	if at := db.stalled.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
