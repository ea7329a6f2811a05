package storage

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

// Commits go to the log, and a checkpoint moves them from there into the file. SQLite
// would do that as part of a commit, which then takes as long as hundreds of others. Here
// a connection of its own does most of it beside the writer:
//
//  1. When checkpointAt pages wait in the log, the checkpointer copies them, while the
//     writer goes on.
//  2. The writer then copies what it has added meanwhile, which is little, between two
//     commits. Nothing is left in the log by that, so it starts again at its beginning.
//
// Should the first not keep up, SQLite still does all of it at its own limit
// (wal_autocheckpoint), so the log is no longer than it would be without.
const (
	checkpointAt = 2500
	// checkpointRest is how long the checkpointer waits after it has looked at the log.
	checkpointRest = 20 * time.Millisecond
)

// checkpointer runs step 1, and tells the writer when to do step 2.
type checkpointer struct {
	path    string
	file    *sqlx.DB
	wake    chan struct{} // has one slot: a signal that is not read yet is enough
	ended   chan struct{}
	waiting func(path string) int // how many pages wait in the log

	rest atomic.Bool  // the writer has to copy the rest
	runs atomic.Int64 // how often step 1 was run, for tests
}

func newCheckpointer(o Options) (*checkpointer, error) {
	conn, err := sqlx.Open("sqlite", checkpointerDSN(o))
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)

	c := &checkpointer{path: o.Path, file: conn, wake: make(chan struct{}, 1), ended: make(chan struct{}), waiting: waitingPages}
	go c.run()
	return c, nil
}

// committed tells that the log has grown. It does not block.
func (c *checkpointer) committed() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run looks at the log after commits, until the writer is closed.
func (c *checkpointer) run() {
	defer close(c.ended)
	for range c.wake {
		if c.waiting(c.path) >= checkpointAt && !c.rest.Load() {
			// What it says is of no use: that it could not copy everything, because
			// somebody reads an old state or another process checkpoints, is usual, and a
			// disk that is full is the writer's to find.
			if _, err := c.file.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err == nil {
				c.runs.Add(1)
				c.rest.Store(true)
			}
		}
		time.Sleep(checkpointRest)
	}
}

// close ends the checkpointer. Nobody calls committed any more.
func (c *checkpointer) close() error {
	close(c.wake)
	<-c.ended
	return c.file.Close()
}

// copyRest is the writer's part, between two commits.
func (c *checkpointer) copyRest(s *session) {
	if c.rest.CompareAndSwap(true, false) {
		_ = s.runOnce("PRAGMA wal_checkpoint(PASSIVE)") // it is tried again: see run
	}
}

// Where the index of a log (the file -shm) has the number of pages in the log and of
// those that were copied, in the byte order of the machine.
const (
	indexSize     = 100
	indexPagesAt  = 16
	indexCopiedAt = 96
)

// waitingPages counts the pages in the log that are not in the file yet; 0 if that
// cannot be known.
func waitingPages(path string) int {
	f, err := os.Open(path + "-shm")
	if err != nil {
		return 0
	}
	defer f.Close()

	index := make([]byte, indexSize)
	if _, err := f.ReadAt(index, 0); err != nil {
		return 0
	}
	return int(binary.NativeEndian.Uint32(index[indexPagesAt:])) - int(binary.NativeEndian.Uint32(index[indexCopiedAt:]))
}
