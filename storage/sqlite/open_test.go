package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"confab/storage/sqlite"
)

// schema is that of the engine's own tests.
const schema = `
	CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
	CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL, args TEXT) STRICT;`

// open makes an empty database that is closed when the test ends.
func open(t testing.TB) *sqlite.DB {
	t.Helper()
	o := sqlite.Options{Path: filepath.Join(t.TempDir(), "test.db"), Schema: schema, MasterKey: make([]byte, sqlite.MasterKeySize)}
	f := sqlite.Format{Version: 1, Meta: "meta", FirstRows: "SELECT 1"}
	db, err := sqlite.Open(o, f, sqlite.Hooks{
		Classify:         func(string) (changes, adds sqlite.TableSet) { return 0, 0 },
		Begin:            func() {},
		BeforeCommit:     func(*sqlite.Wx) error { return nil },
		Committed:        func(sqlite.TableSet) {},
		ChangedElsewhere: func() {},
		OtherCommits:     func(sqlite.Rx) (int64, error) { return 0, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func update(t testing.TB, db *sqlite.DB, fn func(*sqlite.Tx) error) {
	t.Helper()
	if err := db.Update(context.Background(), false, fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, db *sqlite.DB, fn func(sqlite.Rx) error) {
	t.Helper()
	if err := db.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}
