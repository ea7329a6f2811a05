// Package storagetest opens real databases for tests.
package storagetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"confab/storage"
)

// Schema returns the text of schema.sql.
func Schema(t testing.TB) string {
	t.Helper()
	text, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// schema reads schema.sql from the top of the module. Tests start in the directory of their package, and
// what is built by the Makefile does not know where its source is.
var schema = sync.OnceValues(func() (text []byte, err error) {
	for dir := "."; ; dir = filepath.Join("..", dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.ReadFile(filepath.Join(dir, "schema.sql"))
		}
		if absolute, err := filepath.Abs(dir); err != nil || absolute == filepath.Dir(absolute) {
			return nil, errors.New("the tests do not run inside of the module")
		}
	}
})

// Options are what Open uses, for the directory. One without a database gets an empty one.
func Options(t testing.TB, dir string) storage.Options {
	t.Helper()
	made, o := fill(t, dir), Unmade(t, dir)
	o.SkipCheck = made // nobody can have harmed it yet
	return o
}

// Unmade is Options that leaves the making of the database to the caller that opens it.
func Unmade(t testing.TB, dir string) storage.Options {
	t.Helper()
	key, err := storage.LoadMasterKey(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return storage.Options{
		Path: storage.DatabaseFile(dir), Schema: Schema(t), MasterKey: key,
		Synchronous: "normal", // no test cuts the power, and to wait for the disk takes most of the time of some
	}
}

// empty are the files of an empty database and its key. To write them takes a tenth of the
// time that it takes to make them, and most tests want some.
var empty struct {
	sync.Mutex
	files map[string][]byte
}

// fill puts an empty database into a directory that has neither one nor a key, and says if it did.
func fill(t testing.TB, dir string) bool {
	t.Helper()
	paths := []string{filepath.Join(dir, storage.MasterKeyFile), storage.DatabaseFile(dir)}
	for _, path := range append(paths, storage.DatabaseFile(dir)+"-wal") {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}

	files := emptyFiles(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.WriteFile(path, files[filepath.Base(path)], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

// emptyFiles makes an empty database, once for all tests of a package.
func emptyFiles(t testing.TB) map[string][]byte {
	t.Helper()
	empty.Lock()
	defer empty.Unlock()
	if empty.files != nil {
		return empty.files
	}

	dir := t.TempDir()
	db, err := storage.Open(Unmade(t, dir))
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, path := range []string{filepath.Join(dir, storage.MasterKeyFile), storage.DatabaseFile(dir)} {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	empty.files = files
	return files
}

// Open makes an empty database that is closed when the test ends.
func Open(t testing.TB) *storage.DB {
	t.Helper()
	return OpenDir(t, t.TempDir())
}

// OpenDir opens the database of a data directory, making it if there is none.
func OpenDir(t testing.TB, dir string) *storage.DB {
	t.Helper()
	return OpenWith(t, Options(t, dir))
}

// OpenWith opens a database with options of the test's own.
func OpenWith(t testing.TB, o storage.Options) *storage.DB {
	t.Helper()
	db, err := storage.Open(o)
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

// Tenant is an organization with a team and a key.
type Tenant struct {
	Organization storage.Organization
	Team         storage.Team
	Key          storage.Key
	Secret       string
}

// Seed stores a new organization with a key.
func Seed(t testing.TB, db *storage.DB, name string) Tenant {
	t.Helper()
	var s Tenant
	Update(t, db, func(tx *storage.Tx) (err error) {
		s = Tenant{Organization: storage.Organization{Name: name, Plan: "self_hosted"}}
		if s.Team, err = tx.InsertOrganization(&s.Organization); err != nil {
			return err
		}

		s.Key = storage.Key{OrganizationID: s.Organization.ID}
		s.Secret, err = tx.InsertKey(&s.Key)
		return err
	})
	return s
}

// Update runs fn in a transaction that must succeed. fn runs on the writer: it
// returns its errors, because t.Fatal in it would end the writer and hang the test.
func Update(t testing.TB, db *storage.DB, fn func(*storage.Tx) error) {
	t.Helper()
	if err := db.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// View runs fn on a snapshot and must succeed.
func View(t testing.TB, db *storage.DB, fn func(*storage.Rx) error) {
	t.Helper()
	if err := db.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}
