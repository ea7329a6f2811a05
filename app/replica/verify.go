package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"confab/storage"
)

// Verified is the result of a restore that was only made to be checked.
type Verified struct {
	Restored
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"`
	Problem  string `json:"problem,omitempty"` // of a child
}

// Verify restores the replica into a temporary directory within dir, and checks all of it:
// SQLite's own check, the rules of our rows, and that the key opens what is sealed.
func (p Place) Verify(ctx context.Context, dir string, key []byte) (out Verified, err error) {
	temp, err := os.MkdirTemp(dir, verifyPrefix+"*")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(temp)

	file := filepath.Join(temp, "confab.db")
	if out.Restored, err = p.Restore(ctx, time.Time{}, file); err != nil {
		return out, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return out, err
	}
	out.Bytes = info.Size()

	if err := storage.CheckDatabase(file, key); err != nil {
		return out, fmt.Errorf("the restored database is not sound: %w", err)
	}
	facts, err := storage.ReadCopy(file, nil)
	out.Messages = facts.Messages
	return out, err
}

// verifyPrefix begins the names of the directories of checks, of which one that was killed
// leaves its own.
const verifyPrefix = ".replica-verify-"

// verify checks the replica for the server, which it reports to.
func (c *child) verify(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-c.stop
		cancel()
	}()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 15) // the server goes first

	out, err := c.Verify(ctx, c.Dir, c.VerifyKey)
	if err != nil {
		out.Problem = err.Error()
	}
	c.write(report{Verified: &out})
	return nil
}

const (
	// quietHour is when the replica is verified each day, by the machine's clock.
	quietHour = 3
	// verifyPause is how long a server runs before it verifies its replica.
	verifyPause = 10 * time.Minute
	// verifyRetry is how long to wait after a check that failed.
	verifyRetry = time.Hour
	// spareRoom is what a check leaves free on the disk.
	spareRoom = 1 << 30
)

// keepVerified has the replica verified once a day, until ctx ends.
func (r *Replica) keepVerified(ctx context.Context) {
	for wait := verifyPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}

		wait = time.Second
		at, err := storage.Query(ctx, r.DB, (*storage.Rx).ReplicaVerifiedAt)
		if err != nil || !r.keepsUp() || !verifyDue(at.Std()) {
			continue
		}

		problem := ""
		out, err := r.verifyApart(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			r.Log.Info("the replica was restored and is sound", "as_of", out.AsOf, "messages", out.Messages, "bytes", out.Bytes)
		default:
			r.Log.Error("the replica could not be verified", "error", err)
			wait, problem = verifyRetry, "the replica could not be verified: "+err.Error()
		}

		r.mu.Lock()
		r.verifyProblem = problem
		r.mu.Unlock()
	}
}

// verifyDue reports whether a replica is to be verified: in the quiet hour, or when that was
// missed. A new replica is verified as soon as there is something.
func verifyDue(verified time.Time) bool {
	age := time.Since(verified)
	return age > 25*time.Hour || age > 12*time.Hour && time.Now().Hour() == quietHour
}

// keepsUp reports whether a whole copy was sent, and what came since hardly waits: where something is
// always written, something always waits.
func (r *Replica) keepsUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.InSync || r.last.Follows && 0 < r.last.Behind && r.last.Behind < LagToWarn+r.Interval
}

// verifyApart verifies the replica in a process of its own, and records that it is sound.
func (r *Replica) verifyApart(ctx context.Context) (out Verified, err error) {
	if !hasRoom(r.Dir, r.DB.Size()) {
		return out, errors.New("there is not enough room on the disk to restore the replica beside the database")
	}

	found := make(chan Verified, 1)
	p, err := r.start(task{Settings: r.Settings, VerifyKey: r.Key}, func(_ *process, one report) {
		if one.Verified != nil {
			found <- *one.Verified
		}
	})
	if err != nil {
		return out, err
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	<-p.ended

	select {
	case out = <-found:
	default:
		return out, errors.New("the process that checks it ended without a result")
	}
	if out.Problem != "" {
		return out, errors.New(out.Problem)
	}
	return out, r.DB.Update(ctx, (*storage.Tx).SetReplicaVerified)
}

// hasRoom reports whether a directory has room for a copy of so many bytes and what a check
// of it needs.
func hasRoom(dir string, bytes int64) bool {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return true // the restore will say what is wrong
	}
	return int64(disk.Bavail)*int64(disk.Bsize) > bytes+bytes/4+spareRoom
}

// removeLeftovers removes what checks that were killed have left.
func removeLeftovers(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, verifyPrefix+"*")) // the pattern is sound
	for _, name := range left {
		_ = os.RemoveAll(name)
	}
}
