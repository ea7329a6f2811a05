package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestATurnKeepsTheCachesUnlessACommandCommits lets others commit while the writer waits.
// What they commit counts as a change of the database unless it was announced.
func TestATurnKeepsTheCachesUnlessACommandCommits(t *testing.T) {
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	beside := storagetest.Options(t, dir)
	beside.Served = true
	command := storagetest.OpenWith(t, beside)
	look := func(*storage.Tx) error { return nil }
	engine := func() bool {
		storagetest.Exec(t, dir, `INSERT OR REPLACE INTO meta (name, value) VALUES ('engine', randomblob(4))`)
		return true
	}
	for name, c := range map[string]struct {
		turn    func() bool
		changes int64
	}{
		"nothing":             {func() bool { return true }, 0},
		"an announced commit": {engine, 0},
		"an unannounced one":  {func() bool { return !engine() }, 1},
		"a command's beside": {func() bool {
			storagetest.Update(t, command, func(tx *storage.Tx) error { return tx.SetKeyKept() })
			return engine()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			storagetest.Update(t, db, look)
			before := db.Changes()
			is.NoErr(db.Turn(t.Context(), c.turn))
			storagetest.Update(t, db, look)
			is.Equal(db.Changes()-before, c.changes)
		})
	}
}

func TestAnInstallationKeepsItsName(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	var first, second string
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { first, err = tx.NameInstallation(); return err })
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { second, err = tx.NameInstallation(); return err })
	is.Equal(len(first), 16)
	is.Equal(first, second)
}
