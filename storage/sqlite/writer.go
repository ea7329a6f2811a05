package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// write is one caller of Update on its way through the writer. The caller waits
// on done; all other fields belong to the writer's goroutine once it is queued.
type write struct {
	ctx     context.Context
	fn      func(*Tx) error
	queued  time.Time
	patient bool // it may wait for the commit of another
	done    chan error
	tx      Tx
	err     error // what the caller is answered
}

// writer owns the one connection that writes. Callers hand it closures; it runs
// all that wait inside one transaction, commits once, and answers everyone. The
// queue fills up again while a commit is on its way to the disk, so batches
// grow with load and no caller is kept waiting by a timer. Only when all that
// is there is patient, it is held for a moment.
//
// Sharing commits is what makes it fast: with 32 callers, 14,000 transactions a second are
// durable on two cores, where one commit for each allowed 2,700.
//
// A batch goes like this:
//
//  1. Its closures run one after the other in one transaction, without
//     savepoints, because almost all succeed and a savepoint costs time.
//  2. A closure that fails before it changed anything (a row was not found, a
//     rule refused it) is answered with its error, and the others go on.
//  3. One that fails after it changed something has left half of its work in the
//     transaction of all. Everything is rolled back, and the batch runs once
//     more with a savepoint around each closure. So a closure may run twice.
//  4. When SQLite may have rolled back by itself (a full disk), the whole batch
//     fails with that error.
//  5. After COMMIT, what the closures registered by AfterCommit runs, then each
//     caller is answered. A closure that is rolled back runs its OnUndo first, the last
//     closure's first.
//
// After a crash a batch is there as a whole or not at all, and no caller was
// answered that is not in it.
type writer struct {
	db    *DB
	s     *session
	queue chan *write
	last  Wx    // of the batch: see Hooks.BeforeCommit
	seen  int64 // the version of the file, which commits of others move
	held  *time.Timer
	wrote bool // a closure of the batch has

	between func() // what a closure wants done when no transaction is open; nil for nothing

	ended chan struct{}

	// closing is read-locked while a write is queued, so that the queue stays open. It guards closed.
	closing sync.RWMutex
	closed  bool
}

func newWriter(db *DB, s *session) *writer {
	w := &writer{
		db:    db,
		s:     s,
		queue: make(chan *write, QueueSize),
		held:  time.NewTimer(0),
		ended: make(chan struct{}),
	}
	go w.run()
	return w
}

// Update runs fn in a transaction and returns when its changes are durable, or
// when it failed and left no trace. It returns ErrUnavailable if the writer has
// no place for it within a second. A patient write may wait for the commit of another,
// which saves one, and is written by itself if none comes for a moment.
//
// fn may run twice: when another caller's write in the same commit fails late,
// all of them start over. So fn changes nothing but tx and its own results. It
// must not call Update or View, wait for anything, or use the network.
func (db *DB) Update(ctx context.Context, patient bool, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	w := &write{ctx: ctx, fn: fn, queued: time.Now(), patient: patient, done: make(chan error, 1)}
	if err := db.writer.enqueue(w); err != nil {
		return err
	}
	return <-w.done
}

// close refuses new writes, finishes those that were queued and ends the writer.
func (wr *writer) close() {
	wr.closing.Lock()
	wr.closed = true
	close(wr.queue)
	wr.closing.Unlock()
	<-wr.ended
}

// maxBatch bounds the writes that share one commit, and so its length.
const maxBatch = 256

// run is the writer's goroutine, until the queue is closed and empty.
func (wr *writer) run() {
	defer close(wr.ended)
	defer wr.s.close()

	batch := make([]*write, 0, maxBatch)
	for first := range wr.queue {
		batch = wr.gather(append(batch[:0], first))

		began := time.Now()
		wr.commit(batch)
		wr.noteStall(batch, time.Since(began))
		for _, w := range batch {
			w.done <- w.err
		}

		if wr.db.onCommit != nil {
			wr.db.onCommit(Commit{Writes: len(batch), Waited: began.Sub(batch[0].queued), Took: time.Since(began)})
		}
		clear(batch) // lets go of what the closures hold

		if wr.between != nil { // those of the batch need not wait for it
			wr.between()
			wr.between = nil
		}
	}
}

// commit makes the batch durable and sets each write's err.
func (wr *writer) commit(batch []*write) {
	if err := wr.attempt(batch, wr.runPlain); err != nil {
		if !errors.Is(err, errHalfWritten) {
			fail(batch, err)
			return
		}

		// Somebody failed after writing. Undo everything and start over with a
		// savepoint around each: dearer, and needed only then.
		if err := wr.attempt(batch, wr.runWithSavepoints); err != nil {
			fail(batch, err)
			return
		}
	}

	for _, w := range batch {
		if w.err != nil {
			continue
		}
		for _, f := range w.tx.after {
			f()
		}
	}
}

// errHalfWritten reports a batch that holds half of a failed write.
var errHalfWritten = errors.New("a write of the batch failed after it had changed something")

// attempt runs the batch in one transaction, which it commits or rolls back.
func (wr *writer) attempt(batch []*write, run func([]*write) error) error {
	err := wr.s.begin("BEGIN IMMEDIATE")
	if err == nil {
		err = wr.checkOtherProcesses()
	}
	if err == nil {
		wr.db.hooks.Begin()
		wr.wrote, wr.s.wrote = false, false
		err = run(batch)
	}
	if err == nil {
		wr.last = wr.newWx()
		err = wr.db.hooks.BeforeCommit(&wr.last)
		wr.wrote = wr.wrote || wr.s.wrote
	}
	if err == nil {
		_, err = wr.s.exec("COMMIT")
	}

	if err != nil {
		_ = wr.s.rollback() // also after a failed begin: nothing may stay open
		for _, w := range slices.Backward(batch) {
			w.undo()
		}
		return err
	}

	wr.db.hooks.Committed(wr.s.changed)
	if wr.wrote {
		wr.db.changes.Add(1)
	}
	return nil
}

// checkOtherProcesses drops cached rows if another process has committed something.
func (wr *writer) checkOtherProcesses() error {
	var version int64
	rx := Rx{db: wr.db, s: wr.s}
	if err := rx.Scan([]any{&version}, "PRAGMA data_version"); err != nil {
		return err
	}

	if version != wr.seen {
		if wr.seen != 0 { // it has looked before
			wr.db.changes.Add(1)
		}
		wr.seen = version
		wr.db.hooks.ChangedElsewhere()
	}
	return nil
}

// runPlain runs the closures without savepoints. It stops with errHalfWritten at
// one that failed after it had changed something.
func (wr *writer) runPlain(batch []*write) error {
	for _, w := range batch {
		wr.call(w)
		switch {
		case wr.s.lost != nil:
			return wr.s.lost // for all, no matter what this one returned
		case w.err != nil && wr.s.wrote:
			return errHalfWritten
		case w.err != nil:
			w.undo()
		}
	}

	return nil
}

// runWithSavepoints runs each closure within a savepoint, to which a failure returns.
func (wr *writer) runWithSavepoints(batch []*write) error {
	for _, w := range batch {
		if _, err := wr.s.exec("SAVEPOINT write"); err != nil {
			return err
		}

		wr.call(w)
		if wr.s.lost != nil {
			return wr.s.lost
		}

		if w.err != nil {
			w.undo()
			if _, err := wr.s.exec("ROLLBACK TO write"); err != nil {
				return err
			}
		}

		if _, err := wr.s.exec("RELEASE write"); err != nil {
			return err
		}
	}
	return nil
}

// call runs one write's closure. A panic is its own failure and no other write's.
func (wr *writer) call(w *write) {
	w.tx = Tx{Rx: Rx{db: wr.db, s: wr.s}, Wx: wr.newWx()}
	wr.wrote = wr.wrote || wr.s.wrote // the closure before
	wr.s.wrote, wr.s.rows = false, 0
	if w.err = w.ctx.Err(); w.err != nil {
		return
	}

	defer func() {
		if p := recover(); p != nil {
			wr.s.wrote = true // as far as anybody knows
			w.err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	w.err = w.fn(&w.tx)
}

func (wr *writer) newWx() Wx {
	now := wr.db.Now()
	return Wx{Now: now, Order: wr.db.rows.now(now), db: wr.db, s: wr.s}
}

// undo takes back what the closure did outside the database, the last of it
// first: a lane may have been closed and opened.
func (w *write) undo() {
	for _, f := range slices.Backward(w.tx.undone) {
		f()
	}
	w.tx.undone, w.tx.after = nil, nil
}

// fail gives an error to those of a batch that have none; that of a full disk, to all.
func fail(batch []*write, err error) {
	for _, w := range batch {
		if w.err == nil || errors.Is(err, ErrUnavailable) {
			w.err = err
		}
	}
}

// PanicError is a panic inside a transaction, as its caller sees it.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Commit describes, to an observer, one group commit.
type Commit struct {
	Writes int           // callers that shared it
	Waited time.Duration // how long the first of them had waited
	Took   time.Duration
}
