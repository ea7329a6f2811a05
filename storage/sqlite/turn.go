package sqlite

import "context"

// Turn gives the time between two commits to somebody else: fn runs while no transaction of
// this process is open, and those that want to write wait for it. Commits that fn announces
// by returning true change nothing that is cached, so that the caches are kept, unless a
// command has committed something meanwhile.
//
// The turn is fairness only. Whatever else writes to the file is kept apart by SQLite's locks.
func (db *DB) Turn(ctx context.Context, fn func() (announced bool)) error {
	return db.between(ctx, func(wr *writer) error {
		before, err := wr.others()
		if err != nil {
			return err
		}
		if !fn() {
			return nil
		}

		after, err := wr.others()
		if err == nil && before.version == wr.seen && after.commits == before.commits {
			wr.seen = after.version
		}
		return err
	})
}

// SetCheckpoints lets the writer copy the log by itself, or leaves that to who takes turns with it.
func (db *DB) SetCheckpoints(ctx context.Context, on bool) error {
	pages := 0
	if on {
		pages = logPages
	}
	return db.between(ctx, func(wr *writer) error { return wr.s.checkpointAt(pages) })
}

// between runs fn on the writer's goroutine when no transaction is open.
func (db *DB) between(ctx context.Context, fn func(*writer) error) error {
	db.emptying.Lock()
	defer db.emptying.Unlock()

	done := make(chan error, 1)
	err := db.Update(ctx, false, func(tx *Tx) error {
		db.writer.between = func() { done <- fn(db.writer) }
		tx.OnUndo(func() { db.writer.between = nil })
		return nil
	})
	if err != nil {
		return err
	}
	return <-done
}

// others is what other processes have committed, as far as it can be told.
type others struct {
	version int64 // which every commit of another process moves
	commits int64 // of commands, which count theirs: see Hooks.OtherCommits
}

func (wr *writer) others() (o others, err error) {
	rx := Rx{db: wr.db, s: wr.s}
	if err := rx.Scan([]any{&o.version}, "PRAGMA data_version"); err != nil {
		return o, err
	}
	o.commits, err = wr.db.hooks.OtherCommits(rx)
	return o, err
}
