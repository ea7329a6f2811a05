package app

import (
	"context"
	"errors"
	"time"

	"confab/app/datadir"
	"confab/storage"
)

// progressInterval is how often the progress of the database is written to its file.
const progressInterval = time.Second

// progressKeeper keeps the file that says how far the database has come.
type progressKeeper struct {
	*App
	inFile  bool  // the file is about this database
	changes int64 // of the database, when it was last counted
	failing bool  // the last try failed, and the log says so
}

// openDatabase opens the database, and notices one that was put back.
func (a *App) openDatabase() error {
	exists, err := a.dir.Exists()
	if err != nil {
		return err
	}

	a.metrics = newMetrics()
	a.DB, err = a.dir.Open(storage.Options{
		Schema:      a.Schema,
		Synchronous: a.Config.Storage.Synchronous,
		Readers:     a.Config.Storage.Readers,
		Patience:    settlePatience,
		OnCommit:    a.metrics.observeCommit,
		OnUpgrade:   func(progress string) { a.Log.Info("upgrade", "progress", progress) },
		Now:         a.Clock.Now,
	}, a.MasterKey, false)
	if err != nil {
		return err
	}
	if err := a.checkClock(); err != nil {
		return err
	}
	a.metrics.watchDatabase(a.DB)
	a.search = storage.NewSearchIndex(a.DB, a.dir.File(storage.SearchFile), func(err error) { a.Log.Warn("search index", "error", err) })
	return a.openProgress(!exists)
}

// openProgress compares the database with what was last served in the directory, and holds
// back what an older one would send. isNew says that it was made just now: what was there
// before was removed on purpose.
func (a *App) openProgress(isNew bool) error {
	// One that cannot be read is as good as none: the database may be any.
	kept, err := a.dir.KeptProgress()
	isUnreadable := errors.Is(err, datadir.ErrEpochFile)
	if isUnreadable {
		a.Log.Warn("the epoch file could not be read and is rewritten", "error", err)
	} else if err != nil {
		return err
	}

	p, err := storage.Query(context.Background(), a.DB, (*storage.Rx).Progress)
	if err != nil {
		return err
	}
	if how := p.Differs(kept); how != "" && !isNew {
		if p, err = a.holdBack(p, kept, how); err != nil {
			return err
		}
	}

	a.progress = &progressKeeper{App: a}
	a.progress.write(p)
	return nil
}

// holdBack begins a new epoch in a database that was put back.
func (a *App) holdBack(p storage.Progress, kept *storage.Progress, how string) (now storage.Progress, err error) {
	err = a.DB.Update(context.Background(), func(tx *storage.Tx) (err error) {
		if err := tx.HoldBack(); err != nil {
			return err
		}
		now, err = tx.Progress()
		return err
	})
	if err != nil {
		return now, err
	}

	if kept == nil {
		kept = new(storage.Progress)
	}
	a.Log.Warn("an older database was put back: a new epoch of events begins, the search index is rebuilt, "+
		"broadcasts are paused, messages that were due at a set time fail, and other unsent messages "+
		"wait for provider.reconcile_window", "because", how,
		"event", p.Event, "expected_event", kept.Event, "commit", p.Commit, "expected_commit", kept.Commit)
	return now, nil
}

func (k *progressKeeper) run(ctx context.Context) error {
	for tick := time.Tick(progressInterval); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			k.keep()
		}
	}
}

// keep counts on if anything was committed since, and writes the file. Before the file is
// there nothing is counted: a database with a count and no file comes from elsewhere.
func (k *progressKeeper) keep() {
	if k.DB.Changes() == k.changes {
		return
	}
	if !k.inFile {
		p, err := storage.Query(context.Background(), k.DB, (*storage.Rx).Progress)
		if err != nil || !k.write(p) {
			return // the writer reports the fault of the database
		}
	}

	var p storage.Progress
	var changes int64
	err := k.DB.UpdateSoon(context.Background(), func(tx *storage.Tx) (err error) {
		tx.AfterCommit(func() { changes = k.DB.Changes() })
		p, err = tx.CountCommit()
		return err
	})
	if err == nil && k.write(p) {
		k.changes = changes
	}
}

// write writes the file, and logs once when that begins to fail.
func (k *progressKeeper) write(p storage.Progress) (written bool) {
	err := k.dir.KeepProgress(p)
	if err != nil && !k.failing {
		k.Log.Warn("could not write the epoch file: if the database is replaced by an older one, that "+
			"may not be noticed", "error", err)
	}
	k.failing = err != nil
	k.inFile = k.inFile || err == nil
	return err == nil
}

const (
	// eraseInterval is how often the log of the database is emptied, if anything was deleted
	// that it may still hold. The guides promise ten seconds, and a reader may be in the way.
	eraseInterval = 3 * time.Second
	// eraseWait is the longest wait for a reader that stays: each try costs writes a moment.
	eraseWait = time.Minute
)

// eraseDeleted empties the log of the database after deletions, until ctx ends.
func (a *App) eraseDeleted(ctx context.Context) error {
	erased := int64(-1) // a process that was killed may have left something
	for wait := eraseInterval; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}

		now, emptied := a.DB.Erasures(), true
		if now != erased {
			emptied = a.emptyLog(ctx)
		}
		if emptied {
			erased, wait = now, eraseInterval
		} else {
			wait = min(2*wait, eraseWait)
		}
	}
}

// emptyLog empties the log of the database, and reports whether it could.
func (a *App) emptyLog(ctx context.Context) bool {
	if a.replica != nil && a.replica.EmptyLog() {
		return true // who else empties the log makes the next copy of it a whole one
	}
	emptied, err := a.DB.EmptyLog(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Log.Warn("deleted data is still in the database's write-ahead log", "error", err)
	}
	return emptied
}
