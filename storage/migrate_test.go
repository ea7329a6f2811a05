package storage_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// Invented migrations, for files of the newest schema.
const (
	addColumn = `ALTER TABLE labels ADD COLUMN shape TEXT NOT NULL DEFAULT 'round';`
	addTable  = `CREATE TABLE shapes (name TEXT PRIMARY KEY) STRICT; INSERT INTO shapes SELECT name FROM organizations;`
	failsLate = `CREATE TABLE half (n INTEGER) STRICT; DELETE FROM api_keys; INSERT INTO nowhere VALUES (1);`
	breaksKey = `INSERT INTO labels (id, organization_id, team_id, name, name_folded, color, created_at, updated_at)
		VALUES ('l', 1, 99, 'a', 'a', 'red', 1, 1);`
)

// newest is the schema of a new file. The invented migrations follow it.
const newest = storage.SchemaVersion

// step is the name of the n-th invented migration.
func step(n int, what string) string { return fmt.Sprintf("%04d_%s.sql", newest+n, what) }

// backupOf is the copy that an upgrade of a new file leaves.
func backupOf(path string) string { return fmt.Sprintf("%s.v%d.bak", path, newest) }

func files(named map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range named {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestNewFileIsMarkedAsOurs(t *testing.T) {
	is := is.New(t)
	o := storagetest.Unmade(t, t.TempDir())
	upgrade(t, o)
	for pragma, want := range map[string]string{
		"user_version":   fmt.Sprint(storage.SchemaVersion),
		"application_id": fmt.Sprint(0x636e6662),
		"auto_vacuum":    "2", // incremental: must be set when the file is made
		"journal_mode":   "wal",
	} {
		is.Equal(column(t, o.Path, "PRAGMA "+pragma), []string{want})
	}
	info, err := os.Stat(o.Path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	entries, err := os.ReadDir(filepath.Dir(o.Path))
	is.NoErr(err)
	is.Equal(len(entries), 2) // the database and its key, nothing left of their making
}

func TestNewFileThatCannotBeMadeLeavesNothing(t *testing.T) {
	o := storagetest.Unmade(t, t.TempDir())
	o.Schema += "; CREATE TBLE oops"
	refused(t, o, "create the database", "TBLE")
}

func TestNewestMigrationHasTheNumberOfTheSchema(t *testing.T) {
	is := is.New(t)
	builtIn, err := storage.Migrations()
	is.NoErr(err)
	names, err := fs.Glob(builtIn, "*.sql")
	is.NoErr(err)
	for i, name := range names { // in order of name, so also of number
		is.True(strings.HasPrefix(name, fmt.Sprintf("%04d_", i+2)))
	}
	is.Equal(len(names)+1, storage.SchemaVersion)
}

func TestAnUpgradeTellsHowFarItIs(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 4)
	var told []string
	o.OnUpgrade = func(progress string) { told = append(told, progress) }
	upgrade(t, o)
	is.Equal(told[:2], []string{
		fmt.Sprintf("copying the database before the upgrade from schema 4 to %d", storage.SchemaVersion),
		"upgrading the database to schema 5",
	})
	told = nil
	upgrade(t, o)
	is.Equal(len(told), 0) // nothing is left to do
}

func TestMigrationsRunInOrder(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	old := contents(t, o.Path)
	is.NoErr(storage.Migrate(o, files(map[string]string{
		step(0, "ignored"): "not even SQL",
		step(1, "column"):  addColumn,
		step(2, "table"):   addTable + "INSERT INTO shapes SELECT DISTINCT 'x' FROM pragma_table_xinfo('labels') WHERE name = 'shape';",
	}), newest+2))
	is.Equal(column(t, o.Path, "PRAGMA user_version"), []string{fmt.Sprint(newest + 2)})
	is.Equal(column(t, o.Path, "SELECT name FROM shapes ORDER BY name"), []string{"Acme", "x"})

	backup := backupOf(o.Path)
	is.Equal(column(t, backup, "PRAGMA user_version"), []string{fmt.Sprint(newest)})
	is.Equal(contents(t, backup), old)
	info, err := os.Stat(backup)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600)) // it holds the same secrets
}

func TestMigrationBackupCanBeUsedAsItIs(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	is.NoErr(storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn}), newest+1))
	is.NoErr(os.Rename(backupOf(o.Path), o.Path))
	db, err := storage.Open(o)
	is.NoErr(err)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		var modes []string
		err := rx.List(&modes, "PRAGMA journal_mode")
		is.Equal(modes, []string{"wal"}) // VACUUM INTO leaves it out, and readers would block the writer
		return err
	})
	is.NoErr(db.Close())
}

func TestMigrationThatFailsLeavesTheFileUntouched(t *testing.T) {
	for name, text := range map[string]string{
		"half-way": failsLate, "no SQL": "CREATE TBLE", "a broken reference": breaksKey,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			o := newFile(t)
			before := snapshot(t, filepath.Dir(o.Path))
			err := storage.Migrate(o, files(map[string]string{step(1, "bad"): text}), newest+1)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), step(1, "bad")))
			is.True(strings.Contains(err.Error(), fmt.Sprintf("unchanged since schema %d", newest)))
			after := snapshot(t, filepath.Dir(o.Path))
			is.True(after[backupOf(o.Path)] != "")
			delete(after, backupOf(o.Path))
			is.Equal(after, before)
			upgrade(t, o) // and it still opens
		})
	}
}

func TestMigrationsBeforeAFailedOneStay(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	err := storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn, step(2, "bad"): failsLate}), newest+2)
	is.True(strings.Contains(err.Error(), fmt.Sprintf("unchanged since schema %d", newest+1)))
	is.Equal(column(t, o.Path, "PRAGMA user_version"), []string{fmt.Sprint(newest + 1)})
	is.Equal(column(t, o.Path, "SELECT name FROM sqlite_schema WHERE name = 'half'"), nil)
	is.Equal(len(column(t, o.Path, "SELECT id FROM api_keys")), 1)
}

func TestMigrationsThatDoNotAddUpAreRefused(t *testing.T) {
	missing := func(n int) string { return fmt.Sprintf("not just one migration number %d:", newest+n) }
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a gap":            {map[string]string{step(1, "a"): addColumn, step(3, "c"): addTable}, missing(2)},
		"none at the end":  {map[string]string{step(1, "a"): addColumn, step(2, "b"): addTable}, missing(3)},
		"none at the head": {map[string]string{step(2, "b"): addTable, step(3, "c"): addTable}, missing(1)},
		"none at all":      {nil, missing(1)},
		"no number":        {map[string]string{"first.sql": addColumn}, missing(1)},
		"twice the same":   {map[string]string{step(1, "a"): addColumn, step(1, "b"): addTable}, missing(1)},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			o := newFile(t)
			before := snapshot(t, filepath.Dir(o.Path))
			err := storage.Migrate(o, files(c.files), newest+3)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.says))
			is.Equal(snapshot(t, filepath.Dir(o.Path)), before) // not even a copy was made
		})
	}
}

func TestMigrationIsNotForACommandBesideTheServer(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	before := snapshot(t, filepath.Dir(o.Path))
	o.Served = true
	upgrade(t, o) // a current file is fine
	err := storage.Migrate(o, files(map[string]string{step(1, "a"): addColumn}), newest+1)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), fmt.Sprintf("at schema %d and this build needs %d: restart the server", newest, newest+1)))
	is.Equal(snapshot(t, filepath.Dir(o.Path)), before)
}

func TestMigrationsOfManyProcessesRunOnce(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	old := contents(t, o.Path)
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = storage.Migrate(o, files(map[string]string{step(1, "a"): addColumn, step(2, "b"): addTable}), newest+2)
		})
	}
	wg.Wait()
	is.Equal(errs, make([]error, 4))
	is.Equal(column(t, o.Path, "SELECT name FROM shapes"), []string{"Acme"})
	is.Equal(contents(t, backupOf(o.Path)), old) // not copied again after the upgrade
	names := snapshot(t, filepath.Dir(o.Path))
	is.Equal(len(names), 3)
}

// An upgrade that was broken off goes on where it was. It makes no second copy, for
// which there may be no room: the first is the one to go back to.
func TestABrokenOffUpgradeGoesOnWithoutAnotherCopy(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	old := contents(t, o.Path)
	is.True(storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn, step(2, "bad"): failsLate}), newest+2) != nil)

	var told []string
	o.OnUpgrade = func(progress string) { told = append(told, progress) }
	is.NoErr(storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn, step(2, "table"): addTable}), newest+2))
	is.Equal(told[0], fmt.Sprintf("continuing the upgrade from schema %d at schema %d", newest, newest+1))
	is.Equal(contents(t, backupOf(o.Path)), old)
	is.Equal(len(snapshot(t, filepath.Dir(o.Path))), 3) // the database, its key, one copy
	is.Equal(column(t, o.Path, "SELECT name FROM meta WHERE name LIKE 'upgrad%'"), nil)

	// A later upgrade copies again.
	is.NoErr(storage.Migrate(o, files(map[string]string{step(3, "again"): "DROP TABLE shapes;"}), newest+3))
	is.Equal(len(snapshot(t, filepath.Dir(o.Path))), 4)
}

// Without its copy a broken-off upgrade makes one of the present file.
func TestABrokenOffUpgradeWhoseCopyIsGoneIsCopied(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	is.True(storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn, step(2, "bad"): failsLate}), newest+2) != nil)
	is.NoErr(os.Remove(backupOf(o.Path)))
	is.NoErr(storage.Migrate(o, files(map[string]string{step(2, "table"): addTable}), newest+2))
	is.Equal(column(t, fmt.Sprintf("%s.v%d.bak", o.Path, newest+1), "PRAGMA user_version"), []string{fmt.Sprint(newest + 1)})
}

// A process that is killed while it copies leaves a part of a copy, which would fill the
// disk of the next one.
func TestHalfCopiesAreRemoved(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	kept := o.Path + ".v0.bak"
	for _, path := range []string{backupOf(o.Path) + "-123", o.Path + ".v0.bak-9", kept} {
		is.NoErr(os.WriteFile(path, []byte("half"), 0o600))
	}
	is.NoErr(storage.Migrate(o, files(map[string]string{step(1, "column"): addColumn}), newest+1))
	names := snapshot(t, filepath.Dir(o.Path))
	is.Equal(len(names), 4) // the database, its key, the copy, and an older one
	is.True(names[kept] != "" && names[backupOf(o.Path)] != "")
}
