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

// verifyTask is what a child needs to check a replica.
type verifyTask struct {
	Key []byte `json:"key"`
	Dir string `json:"dir"` // where there is room
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

	out, err := c.Verify(ctx, c.Check.Dir, c.Check.Key)
	if err != nil {
		out.Problem = err.Error()
	}
	c.write(report{Verified: &out})
	return nil
}

// spareRoom is what a check leaves free on the disk.
const spareRoom = 1 << 30

// errNoRoom means that the replica was not checked, because the disk has no room for it.
var errNoRoom = errors.New("there is not enough room on the disk to restore the replica beside the database")

// errChildDied means that the process that checks ended without a result.
var errChildDied = errors.New("the process that checks it ended without a result")

// hasRoom reports whether a directory has room for a copy of so many bytes and what a check
// of it needs.
func hasRoom(dir string, bytes int64) bool {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return true // the restore will say what is wrong
	}
	return int64(disk.Bavail)*disk.Bsize > bytes+bytes/4+spareRoom
}

// removeLeftovers removes what checks that were killed have left.
func removeLeftovers(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, verifyPrefix+"*")) // the pattern is sound
	for _, name := range left {
		_ = os.RemoveAll(name)
	}
}
