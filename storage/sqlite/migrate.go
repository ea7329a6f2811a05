package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
)

// Format says what a file of the program holds: how one is made, upgraded and checked.
type Format struct {
	// Version is what Options.Schema describes; PRAGMA user_version holds a file's.
	Version int
	// Migrations has a file NNNN_what.sql for each version after the first.
	Migrations fs.FS
	// Meta names the table, of a name and a value, in which the engine keeps what it has to know.
	Meta string
	// FirstRows is a statement that fills a new file.
	FirstRows string
	// CheckRows looks for rows that are not sound, in a file of a version.
	CheckRows func(conn *sqlx.DB, path string, version int) error
}

// ApplicationID marks a file as ours: "cnfb" in PRAGMA application_id.
const ApplicationID = 0x636e6662

// prepareFile leaves a sound, current database file at o.Path or explains why not.
func (f Format) prepareFile(o Options, seal *sealer) error {
	_, err := os.Stat(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		err = f.createFile(o, seal)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = nil // another process was first
	}
	if err != nil {
		return NotWritable(o.Path, err)
	}

	if err := InspectHeader(o.Path); err != nil {
		return err
	}
	version, err := f.inspect(o, seal)
	if err != nil {
		return Explain(o.Path, err)
	}
	if version == f.Version {
		return nil
	}
	return f.Migrate(o)
}

// inspect looks at a file without changing it and returns its version. When there is a log it must
// not write, because the last one to close the file would fold the log into it; without one it may,
// because only then does it take its traces away.
func (f Format) inspect(o Options, seal *sealer) (version int, err error) {
	mode := "rw"
	if logSize(o.Path) > 0 {
		mode = "ro"
	}
	conn := Connect(DSN(o.Path, mode, "busy_timeout(5000)", "query_only(ON)", "temp_store(MEMORY)"))
	defer func() { err = errors.Join(err, conn.Close()) }()

	if version, err = f.schemaVersion(conn, o); err != nil {
		return 0, err
	}
	if err := inspectContent(conn, o); err != nil {
		return 0, err
	}

	return version, f.checkMasterKey(conn, o, seal)
}

// ErrNotUpgraded means that a file is of an older schema, and may not be upgraded here.
var ErrNotUpgraded = errors.New("restart the server with this build to upgrade it")

// schemaVersion reads the file's version, and refuses one that this build cannot or may not upgrade.
func (f Format) schemaVersion(conn *sqlx.DB, o Options) (int, error) {
	var version int
	if err := conn.Get(&version, "PRAGMA user_version"); err != nil {
		return 0, err
	}

	switch {
	case version < 1:
		return 0, fmt.Errorf("%s is incomplete (schema %d): %s", o.Path, version, adviceRestore)
	case version > f.Version:
		return 0, fmt.Errorf("%s is at schema %d but this build knows only %d: upgrade confab; the file was left untouched",
			o.Path, version, f.Version)
	case version < f.Version && o.Served:
		return 0, fmt.Errorf("%s is at schema %d and this build needs %d: %w", o.Path, version, f.Version, ErrNotUpgraded)
	}
	return version, nil
}

// createFile makes a database under a temporary name, so that a half-made file is never ours.
func (f Format) createFile(o Options, seal *sealer) error {
	if logSize(o.Path) > 0 { // SQLite would play it into the new file
		const advice = "restore the database next to it, or move the log away to start with an empty one"
		return fmt.Errorf("%s is missing, but its log %s-wal exists: %s", o.Path, o.Path, advice)
	}

	temp, err := os.MkdirTemp(filepath.Dir(o.Path), ".new-*")
	if err != nil {
		return NotWritable(o.Path, err)
	}
	defer os.RemoveAll(temp)

	made := o
	made.Path = filepath.Join(temp, filepath.Base(o.Path))
	conn := Connect(writerDSN(made, "rwc"))
	err = f.fillFile(conn, o.Schema, seal.keyCheck())
	if err := errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("create the database %s: %w", o.Path, err)
	}

	if err := os.Chmod(made.Path, 0o600); err != nil {
		return err
	}

	return putInPlace(made.Path, o.Path)
}

// fillFile writes the schema. WAL comes last: until then all is in the file that is to be moved.
func (f Format) fillFile(conn *sqlx.DB, schema string, keyCheck []byte) error {
	_, err := conn.Exec(fmt.Sprintf(`
		PRAGMA auto_vacuum = INCREMENTAL;
		BEGIN;
		%s
		; PRAGMA application_id = %d;
		PRAGMA user_version = %d;
		%s;
		INSERT INTO %s (name, value) VALUES ('%s', x'%x');
		COMMIT;
		PRAGMA journal_mode = WAL`, schema, ApplicationID, f.Version, f.FirstRows, f.Meta, keyCheckName, keyCheck))
	return err
}

// Migrate runs the migrations that the file lacks, each in a transaction, after a copy was made.
func (f Format) Migrate(o Options) (err error) {
	unlock, err := lockDir(filepath.Dir(o.Path))
	if err != nil {
		return fmt.Errorf("lock the data directory for an upgrade: %w", err)
	}
	defer unlock()

	conn := Connect(writerDSN(o, "rw"))
	defer func() { err = errors.Join(err, conn.Close()) }()

	// Another process may have upgraded the file while this one waited for the lock.
	version, err := f.schemaVersion(conn, o)
	if err != nil || version == f.Version {
		return Explain(o.Path, err)
	}

	steps, err := migrationsBetween(f.Migrations, version, f.Version)
	if err != nil {
		return fmt.Errorf("upgrade %s: %w", o.Path, err)
	}

	say := func(format string, args ...any) {
		if o.OnUpgrade != nil {
			o.OnUpgrade(fmt.Sprintf(format, args...))
		}
	}

	// An upgrade that was broken off goes on without a copy of the half-done file: there
	// may be no room for it, and the copy to go back to is there.
	from := f.upgradingFrom(conn, o.Path)
	if from > 0 {
		say("continuing the upgrade from schema %d at schema %d", from, version)
	} else {
		say("copying the database before the upgrade from schema %d to %d", version, f.Version)
		if err := copyBeforeUpgrade(conn, o.Path, version); err != nil {
			return fmt.Errorf("copy %s before its upgrade: %w", o.Path, err)
		}
		from = version
	}

	// All that a step writes is in the log until it is done.
	report := func() { say("%d MB written so far", logSize(o.Path)>>20) }
	for _, step := range steps {
		step.from, step.last = from, step.version == f.Version
		say("upgrading the database to schema %d", step.version)
		if err := watch(2*time.Second, report, func() error { return f.runMigration(conn, step) }); err != nil {
			return fmt.Errorf("upgrade %s to schema %d (%s): %w; the file is unchanged since schema %d",
				o.Path, step.version, step.name, err, step.version-1)
		}
	}
	return nil
}

// lockDir makes processes that start at once upgrade one after the other.
func lockDir(path string) (unlock func() error, err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir.Close, nil
}

type migration struct {
	version int
	name    string
	sql     string
	from    int  // the version at which the upgrade began
	last    bool // it ends with this step
}

// migrationsBetween reads the migrations from version to newest, and insists on each of them.
func migrationsBetween(files fs.FS, version, newest int) (steps []migration, err error) {
	for v := version + 1; v <= newest; v++ {
		names, err := fs.Glob(files, fmt.Sprintf("%04d_*.sql", v))
		if err != nil || len(names) != 1 {
			return nil, fmt.Errorf("there is not just one migration number %d: schema %d cannot be brought to %d", v, version, newest)
		}

		text, err := fs.ReadFile(files, names[0])
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version: v, name: names[0], sql: string(text)})
	}
	return steps, nil
}

// runMigration needs foreign keys off, which SQLite allows only outside of a
// transaction, and checks them itself before it commits.
func (f Format) runMigration(conn *sqlx.DB, step migration) error {
	if _, err := conn.Exec("PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}

	tx, err := conn.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()

	if _, err := tx.Exec(step.sql + "\n;" + f.markUpgrade(step)); err != nil {
		return err
	}
	var broken int
	if err := tx.Get(&broken, "SELECT count(*) FROM pragma_foreign_key_check"); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("%d rows point to nothing", broken)
	}
	return tx.Commit()
}
