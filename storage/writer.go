package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	// queueSize bounds the writes that wait for the writer; past it callers wait.
	queueSize = 1024
	// queueWait is how long a caller waits for a place in a full queue.
	queueWait = time.Second
	// maxBatch bounds the writes that share one commit, and so its length.
	maxBatch = 256
)

// write is one caller of Update on its way through the writer.
type write struct {
	ctx    context.Context
	fn     func(*Tx) error
	queued time.Time
	done   chan error
	tx     Tx
	err    error
}

// writer owns the one connection that writes. Callers hand it closures; it runs
// all that wait inside one transaction, commits once, and answers everyone. The
// queue fills up again while a commit is on its way to the disk, so batches
// grow with load and no timer is needed.
type writer struct {
	db    *DB
	s     *session
	queue chan *write
	tally tally
	seen  int64 // the version of the file, which commits of others move
	ended chan struct{}

	closing sync.RWMutex // held for reading while a write is being queued
	closed  bool
}

func newWriter(db *DB, s *session) *writer {
	w := &writer{db: db, s: s, queue: make(chan *write, queueSize), ended: make(chan struct{}), tally: make(tally)}
	go w.run()
	return w
}

// Update runs fn in a transaction and returns when its changes are durable, or
// when it failed and left no trace. It returns ErrUnavailable if the writer has
// no place for it within a second.
//
// fn may run twice: when another caller's write in the same commit fails late,
// all of them start over. So fn changes nothing but tx and its own results. It
// must not call Update or View, wait for anything, or use the network.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{ctx: ctx, fn: fn, queued: time.Now(), done: make(chan error, 1)}
	if err := db.writer.enqueue(w); err != nil {
		return err
	}
	return <-w.done
}

func (wr *writer) enqueue(w *write) error {
	wr.closing.RLock()
	defer wr.closing.RUnlock()
	if wr.closed {
		return fmt.Errorf("%w: the database is closed", ErrUnavailable)
	}
	select {
	case wr.queue <- w:
		return nil
	default:
	}
	full := time.NewTimer(queueWait)
	defer full.Stop()
	select {
	case wr.queue <- w:
		return nil
	case <-full.C:
		return fmt.Errorf("%w: the write queue is full", ErrUnavailable)
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// close refuses new writes, finishes those that were queued and ends the writer.
func (wr *writer) close() {
	wr.closing.Lock()
	wasClosed := wr.closed
	wr.closed = true
	wr.closing.Unlock()
	if !wasClosed {
		close(wr.queue)
	}
	<-wr.ended
}

func (wr *writer) run() {
	defer close(wr.ended)
	defer wr.s.close()
	batch := make([]*write, 0, maxBatch)
	for first := range wr.queue {
		batch = wr.gather(append(batch[:0], first))
		began := time.Now()
		wr.commit(batch)
		for _, w := range batch {
			w.done <- w.err
		}
		if wr.db.onCommit != nil {
			wr.db.onCommit(Commit{Writes: len(batch), Waited: began.Sub(batch[0].queued), Took: time.Since(began)})
		}
		clear(batch)
	}
}

// gather adds the writes that wait already, without waiting for more.
func (wr *writer) gather(batch []*write) []*write {
	for len(batch) < maxBatch {
		select {
		case w, ok := <-wr.queue:
			if !ok {
				return batch
			}
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// commit makes the batch durable and sets each write's err.
func (wr *writer) commit(batch []*write) {
	if err := wr.attempt(batch, wr.runPlain); err != nil {
		if !errors.Is(err, errSpoiled) {
			fail(batch, err)
			return
		}
		// Somebody failed after writing. Undo everything and start over with a
		// savepoint around each: dearer, and needed only then.
		if err := wr.attempt(batch, wr.runGuarded); err != nil {
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

// errSpoiled reports a batch that holds half of a failed write.
var errSpoiled = errors.New("a write of the batch failed after it had changed something")

// attempt runs the batch in one transaction.
func (wr *writer) attempt(batch []*write, run func([]*write) error) error {
	err := wr.s.begin("BEGIN IMMEDIATE")
	if err == nil {
		err = wr.noticeOthers()
	}
	if err == nil {
		clear(wr.tally)
		err = run(batch)
	}
	if err == nil {
		err = wr.tally.write(wr.s)
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
	wr.db.memos.forget(wr.s.changed)
	return nil
}

// noticeOthers drops what is kept in memory when another process has committed
// something since the writer last looked.
func (wr *writer) noticeOthers() error {
	var version int64
	rx := Rx{db: wr.db, s: wr.s}
	if err := rx.scan([]any{&version}, "PRAGMA data_version"); err != nil {
		return err
	}
	if version != wr.seen {
		wr.seen = version
		wr.db.Forget()
	}
	return nil
}

func (wr *writer) runPlain(batch []*write) error {
	for _, w := range batch {
		wr.call(w)
		switch {
		case wr.s.lost != nil:
			return wr.s.lost // for all, whatever this one made of it
		case w.err != nil && wr.s.wrote:
			return errSpoiled
		case w.err != nil:
			w.undo()
		}
	}
	return nil
}

func (wr *writer) runGuarded(batch []*write) error {
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

// call runs one write's closure. A panic is its own failure and nobody else's.
func (wr *writer) call(w *write) {
	w.tx = Tx{Rx: Rx{db: wr.db, s: wr.s, since: wr.db.memos.changes.Load()}, Now: Now()}
	wr.s.wrote = false
	if w.err = w.ctx.Err(); w.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			wr.s.wrote = true
			w.err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	w.err = w.fn(&w.tx)
}

// undo takes back what the closure did outside the database, the last of it
// first: a lane may have been closed and opened.
func (w *write) undo() {
	for _, f := range slices.Backward(w.tx.undone) {
		f()
	}
	w.tx.undone, w.tx.after = nil, nil
}

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

// Commit tells an observer about one group commit.
type Commit struct {
	Writes int           // callers that shared it
	Waited time.Duration // how long the first of them had waited
	Took   time.Duration
}
