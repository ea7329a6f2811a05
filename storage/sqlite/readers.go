package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Which reads use which connection, so that no reader has to wait for another's long list:
//
//   - View and ViewOnce are for short reads: rows by their keys, or a batch of a fixed
//     size by an index. They take any free reader. Health checks, requests for one
//     resource and jobs read so.
//   - List is for what a client asks for that may be much. Lists take all readers
//     but one, and alternate by organization.
//   - Search is for walks, which may pass over millions of rows to find or count a
//     few. They have connections of their own, and alternate by organization too: a
//     walk is read step by step, and gives its connection away in between (see Pause).
//
// No caller has to know beforehand which lists are long. A list reads its first step as a
// list; one that is not done with it begins again as a search.

const (
	// MaxSearches is how many searches run at once.
	MaxSearches = 2
	// MaxWaitingSearches is how many searches of one organization wait.
	MaxWaitingSearches = 64
	// turnTime is how long a search reads before it offers its connection to another
	// organization. Once it has read for scanTime, which no list does for longer, it
	// offers it to others of its organization too.
	turnTime = 50 * time.Millisecond
)

// View runs fn on a consistent snapshot. It never waits for a writer, only for
// a free reading connection. fn must be short: see List and Search.
func (db *DB) View(ctx context.Context, fn func(Rx) error) error {
	return db.read(ctx, Rx{db: db}, true, fn)
}

// ViewOnce is View for one statement, which is consistent without a transaction.
func (db *DB) ViewOnce(ctx context.Context, fn func(Rx) error) error {
	return db.read(ctx, Rx{db: db}, false, fn)
}

// List is View for what a client of an organization asks for that may be much. If one
// step is not enough, fn is run again from its beginning, as a search.
func (db *DB) List(ctx context.Context, organization int64, fn func(Rx) error) error {
	err := db.listFirstStep(ctx, organization, fn)
	if errors.Is(err, errLong) {
		return db.Search(ctx, organization, fn)
	}
	return err
}

var errLong = errors.New("this takes more than one step")

// listFirstStep runs fn as a list, or fails with errLong after the first step of a walk.
func (db *DB) listFirstStep(ctx context.Context, organization int64, fn func(Rx) error) error {
	if err := db.lists.Acquire(ctx, organization); err != nil {
		return err
	}
	defer db.lists.Release(organization)

	return db.read(ctx, Rx{db: db, walk: &walk{brief: true}}, true, fn)
}

// read runs fn on a free reader; with snapshot in a transaction, which sees one state.
func (db *DB) read(ctx context.Context, rx Rx, snapshot bool, fn func(Rx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}

	if rx.s, err = db.readers.acquire(ctx); err != nil {
		return err
	}
	defer func() { db.readers.release(rx.s) }()

	if !snapshot {
		rx.s.reset()
		return fn(rx)
	}

	if err := rx.s.begin("BEGIN"); err != nil {
		return err
	}
	defer func() {
		if end := rx.s.rollback(); err == nil {
			err = end
		}
	}()
	return fn(rx)
}

// Search is View for walks over many rows, for an organization or, with 0, for the
// server itself. A walk may see a newer state after each of its steps, but looks at
// each row once.
//
// ErrTooManyWaiting means that the organization has too many searches waiting.
func (db *DB) Search(ctx context.Context, organization int64, fn func(Rx) error) (err error) {
	if err := db.searches.Acquire(ctx, organization); err != nil {
		return err
	}

	rx := Rx{db: db, s: new(session), walk: &walk{ctx: ctx, organization: organization}}
	if err := rx.beginTurn(); err != nil {
		return err
	}
	defer func() {
		if end := rx.endTurn(); err == nil {
			err = end
		}
	}()
	return fn(rx)
}

// walk is how far a reader may go at once. An Rx and those that Within makes of it
// share it, and in a search also the session: in each turn another connection is
// put into that.
type walk struct {
	brief        bool // no further than the first step
	ctx          context.Context
	organization int64
	session      *session      // that the connection belongs to
	began        time.Time     // when its turn began
	read         time.Duration // in its turns before
}

// Pause is called between two steps of a walk, each of which takes a few milliseconds:
// by every method that may read very many rows. In a search it lets others
// run, and the next step may see a newer state. After an error no statement can
// be run any more. In a view it does nothing.
func (rx *Rx) Pause() error {
	switch w := rx.walk; {
	case w == nil:
		return nil
	case w.brief:
		return errLong
	case w.ctx.Err() != nil: // no caller waits for it any more
		return w.ctx.Err()
	case time.Since(w.began) < rx.db.turnTime:
		return nil
	}

	// The snapshot ends even if no one else waits: as long as it lasts, the log of
	// writes cannot be shortened.
	if err := rx.s.rollback(); err != nil {
		return err
	}
	rx.returnSession()

	w := rx.walk
	w.read += time.Since(w.began)
	isLong := w.read >= rx.db.scanTime || w.organization == InternalWork
	if err := rx.db.searches.Yield(w.ctx, w.organization, isLong); err != nil {
		return err
	}
	return rx.beginTurn()
}

// beginTurn takes a connection for a search, and begins a snapshot. If it fails, the turn is over.
func (rx *Rx) beginTurn() error {
	s, err := rx.db.searchConns.acquire(context.Background()) // one is free, or they are closed
	if err != nil {
		rx.db.searches.Release(rx.walk.organization)
		return err
	}

	*rx.s, rx.walk.session, rx.walk.began = *s, s, time.Now()
	if err := rx.s.begin("BEGIN"); err != nil {
		rx.returnSession()
		rx.db.searches.Release(rx.walk.organization)
		return err
	}
	return nil
}

// endTurn ends a search, unless its turn ended before.
func (rx *Rx) endTurn() error {
	if !rx.s.isConnected() {
		return nil
	}

	err := rx.s.rollback()
	rx.returnSession()
	rx.db.searches.Release(rx.walk.organization)
	return err
}

// returnSession gives the connection back. A read before the next turn fails.
func (rx *Rx) returnSession() {
	*rx.s = session{lost: fmt.Errorf("%w: the search was stopped", ErrUnavailable)}
	rx.db.searchConns.release(rx.walk.session)
}
