package storage_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// writePages makes the log longer by about so many pages.
func writePages(t *testing.T, db *storage.DB, pages int) {
	t.Helper()
	text := string(bytes.Repeat([]byte("x"), 3500))
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for range pages {
			if err := tx.Exec(`INSERT INTO log_test (text) VALUES (?)`, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func openWithLogTest(t *testing.T) *storage.DB {
	t.Helper()
	db := storagetest.Open(t)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Exec(`CREATE TABLE log_test (text TEXT)`) })
	return db
}

// A log that is long is begun anew by the commits that follow, without one that pays for it.
func TestALongLogIsBegunAnew(t *testing.T) {
	is := is.New(t)
	db := openWithLogTest(t)
	writePages(t, db, storage.LongLog/2)
	before, err := db.LogPages()
	is.NoErr(err)
	is.True(before > storage.LongLog/2) // and as long as it is
	for range 4 {
		writePages(t, db, storage.LongLog/2)
	}
	for pages := storage.LongLog; pages >= storage.LongLog; time.Sleep(time.Millisecond) {
		writePages(t, db, 1)
		pages, err = db.LogPages()
		is.NoErr(err)
		is.True(pages < storage.ForcedLog) // before a commit has to
	}
}

// A reader of an old snapshot keeps the log as long as it reads, and no longer.
func TestAReaderKeepsTheLogOnlyForAWhile(t *testing.T) {
	is := is.New(t)
	db := openWithLogTest(t)
	reading, leave := make(chan struct{}), make(chan struct{})
	left := make(chan error)
	go func() {
		left <- db.View(context.Background(), func(rx *storage.Rx) error {
			var n []int
			err := rx.List(&n, `SELECT count(*) FROM log_test`)
			close(reading)
			<-leave
			return err
		})
	}()
	<-reading
	for range 3 {
		writePages(t, db, storage.LongLog/2)
	}
	pages, err := db.LogPages()
	is.NoErr(err)
	is.True(pages > storage.LongLog)
	close(leave)
	is.NoErr(<-left)
	for pages >= storage.LongLog {
		writePages(t, db, 1)
		pages, err = db.LogPages()
		is.NoErr(err)
		time.Sleep(time.Millisecond)
	}
}
