package storage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"confab/storage/sqlite"
)

// DB is an open database, with in memory what every message needs and rarely changes.
type DB struct {
	*sqlite.DB
	caches  *caches
	pending pending
	events  *EventSignal
	hints   *Hints

	dispatcher atomic.Pointer[Dispatcher]
	closed     closedLanes

	deletions atomic.Int64 // see Deletions
	erasures  atomic.Int64 // see Erasures

	index atomic.Pointer[SearchIndex] // nil where messages are not searched
}

// Open opens the database at o.Path: see sqlite.Open.
func Open(o Options) (*DB, error) {
	if err := registerFunctions(); err != nil {
		return nil, err
	}

	db := &DB{
		caches:  newCaches(),
		pending: newPending(),
		events:  &EventSignal{signal: newSignal(), organizations: make(map[int64]struct{})},
		hints:   &Hints{signal: newSignal(), pending: make(map[hintKey]map[string]bool)},
		closed:  closedLanes{all: make(map[string]bool), suspended: make(map[string]bool)},
	}

	var err error
	db.DB, err = sqlite.Open(o, fileFormat(), sqlite.Hooks{
		Classify:         classify,
		Begin:            db.pending.clear,
		BeforeCommit:     db.beforeCommit(o.Served),
		Committed:        db.forget,
		ChangedElsewhere: db.DropCaches,
		OtherCommits:     otherCommits,
	})
	if err != nil {
		return nil, err
	}
	if err := db.continueOrder(); err != nil && !o.SkipCheck {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// beforeCommit writes what the closures of a transaction have counted. Beside a server each
// transaction that changes something is counted, too: see otherCommits.
func (db *DB) beforeCommit(served bool) func(*sqlite.Wx) error {
	return func(wx *sqlite.Wx) error {
		if err := db.pending.write(wx); err != nil || !served || !wx.Wrote() {
			return err
		}
		return countOtherCommit(wx)
	}
}

var registerFunctions = sync.OnceValue(func() error {
	return errors.Join(sqlite.RegisterFunction("matches", sqlite.Matches), sqlite.RegisterFunction("says", says))
})

// StalledAt returns when it was last found that nothing could be stored, or the zero time.
// Workers take it as a function before they have a database, so it is not promoted.
func (db *DB) StalledAt() time.Time { return db.DB.StalledAt() }

// Rx reads one consistent state of the database.
type Rx struct {
	sqlite.Rx
	db    *DB
	since int64 // caches.changes before the snapshot was taken: see cache
}

// reading makes what reads our rows of what the engine reads with. No statement has
// been run yet, so no snapshot was taken either.
func (db *DB) reading(rx sqlite.Rx) Rx { return Rx{Rx: rx, db: db, since: db.caches.changes.Load()} }

func (db *DB) reader(fn func(*Rx) error) func(sqlite.Rx) error {
	return func(in sqlite.Rx) error {
		rx := db.reading(in)
		return fn(&rx)
	}
}

// Within is the same snapshot for lists that keep to a budget; nil lifts it.
func (rx *Rx) Within(b *Budget) *Rx {
	return &Rx{Rx: *rx.Rx.Within(b), db: rx.db, since: rx.since}
}

// OrEmpty is a value that may be missing: "" or 0 if it is.
func OrEmpty[T any](value *T) T {
	if value == nil {
		return *new(T)
	}
	return *value
}

// OrNil is nil for the zero value, which is stored and shown as null.
func OrNil[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// SameText reports whether two texts, either of which may be missing, are the same.
func SameText(a, b *string) bool { return (a == nil) == (b == nil) && OrEmpty(a) == OrEmpty(b) }

// get reads the single row of a query, or returns ErrNotFound.
func get[T any](rx *Rx, query string, args ...any) (row T, err error) {
	if err = rx.Get(&row, query, args...); err != nil {
		return *new(T), err // sqlx leaves empty texts in it
	}
	return row, nil
}

func list[T any](rx *Rx, query string, args ...any) (all []T, err error) {
	err = rx.List(&all, query, args...)
	return all, err
}

// value is get for a row of one column. It is the faster way: see Scan.
func value[T any](rx *Rx, query string, args ...any) (v T, err error) {
	err = rx.Scan([]any{&v}, query, args...)
	return v, err
}

func (rx *Rx) exists(query string, args ...any) (bool, error) {
	found, err := value[bool](rx, query, args...)
	return found, IgnoreNotFound(err)
}

// View runs fn on a consistent snapshot. fn must be short: see sqlite.DB for this and the others.
func (db *DB) View(ctx context.Context, fn func(*Rx) error) error {
	return db.DB.View(ctx, db.reader(fn))
}

// ViewOnce is View for an fn that reads once.
func (db *DB) ViewOnce(ctx context.Context, fn func(*Rx) error) error {
	return db.DB.ViewOnce(ctx, db.reader(fn))
}

// List is View for what a client of an organization asks for that may be much. fn may run twice.
func (db *DB) List(ctx context.Context, organization int64, fn func(*Rx) error) error {
	return db.DB.List(ctx, organization, db.reader(fn))
}

// Search is View for walks over many rows, for an organization or, with InternalWork, the server.
func (db *DB) Search(ctx context.Context, organization int64, fn func(*Rx) error) error {
	return db.DB.Search(ctx, organization, db.reader(fn))
}

// Tx is one closure's part of a transaction that others share: see sqlite.Tx.
type Tx struct {
	Rx
	*sqlite.Wx

	happened []int64 // organizations that have new events: see signalEvents
	noted    []noted // what was changed: see Hints
}

// Update runs fn in a transaction and returns when its changes are durable, or when it failed and
// left no trace. fn may run twice, changes nothing but tx and its own results, and waits for nothing:
// see sqlite.DB.Update.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.update(ctx, fn, false)
}

// UpdateSoon is Update for writes that no caller waits for, such as the end of a job: it may ride on the
// next commit of another.
func (db *DB) UpdateSoon(ctx context.Context, fn func(*Tx) error) error {
	return db.update(ctx, fn, true)
}

// update runs fn by way of the engine, and then signals what it has changed.
func (db *DB) update(ctx context.Context, fn func(*Tx) error, patient bool) error {
	var tx Tx
	err := db.DB.Update(ctx, patient, func(in *sqlite.Tx) error {
		tx = Tx{Rx: db.reading(in.Rx), Wx: &in.Wx}
		return fn(&tx)
	})
	if err != nil {
		return err
	}

	db.events.add(tx.happened...)
	db.hints.add(tx.noted)
	return nil
}

// Query reads one thing in a view.
func Query[T any](ctx context.Context, db *DB, read func(*Rx) (T, error)) (found T, err error) {
	err = db.View(ctx, func(rx *Rx) (err error) {
		found, err = read(rx)
		return err
	})
	return found, err
}

// ObserveStatements hands each statement of the writer to fn, a quick one of a test; nil ends that.
func (db *DB) ObserveStatements(ctx context.Context, fn func(query string)) error {
	return db.Update(ctx, func(tx *Tx) error {
		tx.Observe(fn)
		return nil
	})
}

func (db *DB) currentDispatcher() Dispatcher {
	if d := db.dispatcher.Load(); d != nil {
		return *d
	}
	return nil
}
