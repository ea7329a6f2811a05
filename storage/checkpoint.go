package storage

import (
	"context"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// longLog is how many pages the write-ahead log has when it is time to begin it anew.
	longLog = 4000
	// forcedLog is with how many pages in the log a commit brings them into the database by
	// itself. It comes to that only if the checkpointer cannot keep up.
	forcedLog = 16_000
	// shortRest is how many pages the checkpointer leaves to the writer, if it can.
	shortRest = 500
	// maxPasses is how often it tries to come down to that: what is committed meanwhile is
	// left each time.
	maxPasses = 4
	// logInterval is the least time between two looks at the log.
	logInterval = 20 * time.Millisecond
)

// checkpointer keeps the write-ahead log short without delaying commits. Commits append to
// the log; somebody has to bring its pages into the database file and to sync that, which
// takes many times longer than a commit. It goes like this:
//
//  1. After each commit the writer signals it, without waiting.
//  2. It looks how long the log is, every logInterval at most. When the log has longLog
//     pages, it brings them into the database on its own connection. The writer goes on
//     meanwhile: nobody waits for a passive checkpoint.
//  3. So there is always a rest, of what was committed during that. The writer brings it in
//     itself, between two commits (finishLog): then the log is all in the database, and
//     the next commit begins it anew.
//
// The writer goes on with 3 at each commit until the log is short, as readers of an old
// snapshot keep it from being begun anew.
//
// It needs no lock: the channels and writer.finishing are all that it shares.
type checkpointer struct {
	pool      *sqlx.DB
	s         *session
	writer    *writer
	committed chan struct{} // holds a value when something was committed
	stop      chan struct{}
	ended     chan struct{}
}

// newCheckpointer opens its connection and starts it.
func newCheckpointer(o Options, w *writer) (*checkpointer, error) {
	pool, err := sqlx.Open("sqlite", dsn(o.Path, url.Values{"mode": {"rw"}, "_pragma": {
		"synchronous(" + synchronous(o) + ")", "wal_autocheckpoint(0)",
	}}))
	if err != nil {
		return nil, err
	}
	s, err := newSession(context.Background(), pool)
	if err != nil {
		pool.Close()
		return nil, err
	}

	c := &checkpointer{
		pool:      pool,
		s:         s,
		writer:    w,
		committed: w.committed,
		stop:      make(chan struct{}),
		ended:     make(chan struct{}),
	}
	go c.run()
	return c, nil
}

// close ends it and closes its connection.
func (c *checkpointer) close() error {
	close(c.stop)
	<-c.ended
	c.s.close()
	return c.pool.Close()
}

func (c *checkpointer) run() {
	defer close(c.ended)
	for {
		select {
		case <-c.stop:
			return
		case <-c.committed:
		}

		c.shorten()

		select {
		case <-c.stop:
			return
		case <-time.After(logInterval):
		}
	}
}

// shorten brings the pages of a long log into the database. An error is no harm: it tries
// again after the next commit, and a commit does it by itself when the log is too long.
func (c *checkpointer) shorten() {
	log, err := c.s.checkpoint("NOOP")
	if err != nil || log.pages < longLog {
		return
	}

	for range maxPasses {
		if log.rest() <= shortRest {
			break
		}
		if log, err = c.s.checkpoint("PASSIVE"); err != nil {
			return
		}
	}
	c.writer.finishing.Store(true)
}

// finishLog brings the rest of a long log into the database, so that the next commit can
// begin it anew. The writer calls it between two commits.
func (wr *writer) finishLog() {
	if !wr.finishing.Load() {
		return
	}

	log, err := wr.s.checkpoint("NOOP")
	if err == nil && log.pages < longLog {
		wr.finishing.Store(false)
		return
	}
	_, _ = wr.s.checkpoint("PASSIVE") // it is tried again after the next commit
}

// logState is how much the write-ahead log holds.
type logState struct {
	isBusy bool
	pages  int // since it was last begun
	stored int // those of them that are in the database
}

// rest is how many pages are not in the database yet.
func (l logState) rest() int { return l.pages - l.stored }
