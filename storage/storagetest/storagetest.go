// Package storagetest opens real databases for tests.
package storagetest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"confab/storage"
)

// Schema returns the text of schema.sql, read from the top of the module.
func Schema(t testing.TB) string {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), "..", "..", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Options are what Open uses, for the directory.
func Options(t testing.TB, dir string) storage.Options {
	t.Helper()
	key, err := storage.LoadMasterKey(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return storage.Options{Path: storage.DatabaseFile(dir), Schema: Schema(t), MasterKey: key}
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
