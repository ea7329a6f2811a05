package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"confab/storage"
)

// A process may limit the size of the files that it writes, and only for all of them:
// so the story of a log that cannot grow is played by a process of its own.
func TestSpaceThatCannotBeReturnedUndoesTheWholeTransaction(t *testing.T) {
	out, err := newChild(t, "full log", openDir(t), 0).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// childFullLog has the log run full while empty pages are returned. SQLite then rolls
// back by itself, and anything after that would be written outside of any transaction.
func childFullLog(dir string) error {
	o, err := childOptions(dir)
	if err != nil {
		return err
	}
	if err := makeEmptyPages(o); err != nil {
		return err
	}

	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	small := func(tx *storage.Tx) error { return tx.Pragma("PRAGMA cache_size = 10") } // what it holds no longer is written to the log
	if err := db.Update(context.Background(), small); err != nil {
		return err
	}

	return errors.Join(returnOverlooked(db), db.Close())
}

// makeEmptyPages makes a file that has some hundred empty pages, in front of others.
func makeEmptyPages(o storage.Options) error {
	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	for range 20 {
		err = errors.Join(err, db.Update(context.Background(), insertMany))
	}
	err = errors.Join(err, db.Update(context.Background(), func(tx *storage.Tx) error {
		return tx.Run(`DELETE FROM raw_callbacks WHERE id <= 900`)
	}))
	return errors.Join(err, db.Close()) // which empties the log
}

// returnOverlooked returns space in vain, goes on as if nothing had happened, and reports
// what was written all the same.
func returnOverlooked(db *storage.DB) error {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limited := before
	limited.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		return err
	}

	var refused error
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		if err := insert("a")(tx); err != nil {
			return err
		}
		refused = tx.ReturnSpace(1000)
		_ = insert("b")(tx)
		return nil
	})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}

	var written []string
	seen := db.View(context.Background(), func(rx *storage.Rx) (err error) {
		written, err = organizations(rx)
		return err
	})
	switch {
	case !errors.Is(refused, storage.ErrUnavailable) || !errors.Is(err, storage.ErrUnavailable):
		return fmt.Errorf("returned space: %v, and the transaction: %v", refused, err)
	case seen != nil || slices.Contains(written, "a") || slices.Contains(written, "b"):
		return fmt.Errorf("half of it was written: %v %v", written, seen)
	}
	return addOrganization(db, "after")
}
