package storage_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func organizations(rx *storage.Rx) (names []string, err error) {
	all, err := rx.Organizations()
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names, err
}

func addOrganization(db *storage.DB, name string) error {
	return db.Update(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.InsertOrganization(&storage.Organization{Name: name, Plan: "free"})
		return err
	})
}

// names reads all organizations' names in a view of its own.
func names(t *testing.T, db *storage.DB) []string {
	t.Helper()
	var all []string
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		all, err = organizations(rx)
		return err
	})
	return all
}

func TestViewSeesOneStateWhileWritesGoOn(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	err := db.View(context.Background(), func(rx *storage.Rx) error {
		for range 3 {
			seen, err := organizations(rx)
			is.NoErr(err)
			is.Equal(seen, []string{"Acme"})
			is.NoErr(addOrganization(db, "later")) // does not wait for the view
		}
		return nil
	})
	is.NoErr(err)
	is.Equal(names(t, db), []string{"Acme", "later", "later", "later"})
}

func TestViewCannotWrite(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	for _, statement := range []string{
		`UPDATE organizations SET name = 'x'`,
		`DELETE FROM api_keys`,
		`CREATE TABLE x (n INTEGER)`,
		`PRAGMA user_version = 5`,
	} {
		err := db.View(context.Background(), func(rx *storage.Rx) error { return rx.Write(statement) })
		is.True(err != nil)
	}
	is.Equal(names(t, db), []string{"Acme"})
}

func TestViewsShareFewReaders(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.Readers = 2
	db := open(t, o)
	var now, most atomic.Int32
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			err := db.View(context.Background(), func(rx *storage.Rx) error {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				defer now.Add(-1)
				return rx.Ping()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	is.True(most.Load() <= 3) // and the one that lists never take
}

func TestViewThatPanicsGivesItsReaderBack(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.Readers = 1
	db := open(t, o)
	for range 3 { // more than there are
		func() {
			defer func() { is.Equal(recover(), "oops") }()
			db.View(context.Background(), func(*storage.Rx) error { panic("oops") })
		}()
	}
	is.Equal(names(t, db), []string{"Acme"})
}

func TestViewReturnsTheErrorOfItsFunction(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	oops := errors.New("oops")
	is.Equal(db.View(context.Background(), func(*storage.Rx) error { return oops }), oops)
	is.Equal(names(t, db), []string{"Acme"})
}

func TestViewGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 1
		db := open(t, o)
		inBoth := func(fn func() error) error {
			return db.View(context.Background(), func(*storage.Rx) error {
				return db.View(context.Background(), func(*storage.Rx) error { return fn() })
			})
		}
		err := inBoth(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			began := time.Now()
			err := db.View(ctx, func(*storage.Rx) error { return errors.New("there was a third reader") })
			is.Equal(err, context.DeadlineExceeded)
			is.Equal(time.Since(began), 3*time.Second)
			return db.View(ctx, func(*storage.Rx) error { return nil })
		})
		is.Equal(err, context.DeadlineExceeded)
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		is.Equal(db.View(gone, func(*storage.Rx) error { return nil }), context.Canceled) // though a reader is free
		is.Equal(names(t, db), []string{"Acme"})
	})
}

func TestCloseLetsViewsFinishAndReleasesThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		o.Readers = 1
		db, err := storage.Open(o)
		is.NoErr(err)
		let := make(chan struct{})
		running, waiting, closed := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() {
			running <- db.View(context.Background(), func(rx *storage.Rx) error {
				<-let
				return rx.Ping()
			})
		}()
		synctest.Wait()
		go func() { closed <- db.Close() }()
		synctest.Wait() // now Close waits for the reader, and so will the next
		go func() { waiting <- db.View(context.Background(), func(rx *storage.Rx) error { return rx.Ping() }) }()
		synctest.Wait()
		close(let)
		is.NoErr(<-running)
		is.NoErr(<-closed)
		is.True(errors.Is(<-waiting, storage.ErrUnavailable))
	})
}

func TestClosedDatabaseIsUnavailable(t *testing.T) {
	is := is.New(t)
	db, err := storage.Open(newFile(t))
	is.NoErr(err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	is.NoErr(db.Close())
	is.True(errors.Is(db.View(context.Background(), func(*storage.Rx) error { return nil }), storage.ErrUnavailable))
	is.True(errors.Is(addOrganization(db, "late"), storage.ErrUnavailable))
}

func TestPathMayHoldAnyCharacter(t *testing.T) {
	for _, name := range []string{"a#b", "a?mode=memory", "a%20b", "a b", "ä&ü=%", "a%", "'quoted'"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			above := t.TempDir()
			dir := filepath.Join(above, name)
			is.NoErr(os.Mkdir(dir, 0o700))
			made := newFile(t)
			o := made
			o.Path = storage.DatabaseFile(dir)
			db, err := storage.Open(o)
			is.NoErr(err)
			is.NoErr(addOrganization(db, name))
			is.NoErr(db.Close())
			is.Equal(names(t, open(t, o)), []string{name})
			for file := range snapshot(t, above) {
				is.Equal(filepath.Dir(file), dir) // and nothing beside it
			}
		})
	}
}

func TestProcessesMayMakeTheDatabaseAtOnce(t *testing.T) {
	is := is.New(t)
	data := openDir(t)
	var all []*exec.Cmd
	var starts []io.Closer
	for range 4 {
		p := newChild(t, "open", data, 0)
		start, err := p.StdinPipe()
		is.NoErr(err)
		p.Stdout = testWriter{t}
		is.NoErr(p.Start())
		all, starts = append(all, p), append(starts, start)
	}
	for _, start := range starts {
		is.NoErr(start.Close())
	}
	for _, p := range all {
		is.NoErr(p.Wait())
	}
	left := snapshot(t, data)
	if log := storage.DatabaseFile(data) + "-wal"; strings.HasPrefix(left[log], "0 bytes") {
		delete(left, log) // of those who close a file at once, none may be the last
	}
	is.Equal(len(left), 2) // one database, one key
	storagetest.Seed(t, storagetest.OpenDir(t, data), "Acme")
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}

func TestOptionsReachTheWriter(t *testing.T) {
	for option, want := range map[string]string{"": "2", "full": "2", "normal": "1"} {
		is := is.New(t)
		o := newFile(t)
		o.Synchronous = option
		db := open(t, o)
		for pragma, want := range map[string]string{"synchronous": want, "foreign_keys": "1", "query_only": "0"} {
			var got []string
			storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.List(&got, "PRAGMA "+pragma) })
			is.Equal(got, []string{want})
		}
	}
}

func TestSizeCountsTheLog(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	before := db.Size()
	is.True(before > 0)
	is.NoErr(addOrganization(db, "more"))
	is.True(db.Size() > before)
}
