package storage_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// refused opens a file that must not be opened, and proves that the attempt
// changed nothing in its directory.
func refused(t *testing.T, o storage.Options, says ...string) {
	t.Helper()
	before := snapshot(t, filepath.Dir(o.Path))
	db, err := storage.Open(o)
	if err == nil {
		db.Close()
		t.Fatal("it was opened")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the message says no %q: %v", s, err)
		}
	}
	if !strings.Contains(err.Error(), o.Path) {
		t.Errorf("the message names no file: %v", err)
	}
	is.New(t).Equal(snapshot(t, filepath.Dir(o.Path)), before)
}

// overwrite puts garbage, always the same, into a file.
func overwrite(t *testing.T, path string, at, size int64) {
	t.Helper()
	garbage := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(garbage)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteAt(garbage, at)
	check(t, err)
	check(t, f.Close())
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	return info.Size()
}

func TestFileThatIsNotSoundIsRefusedAndKept(t *testing.T) {
	const restore = "restore it from a backup"
	for name, c := range map[string]struct {
		plant func(t *testing.T, path string)
		says  []string
	}{
		"empty":       {func(t *testing.T, p string) { check(t, os.Truncate(p, 0)) }, []string{"truncated", restore}},
		"half header": {func(t *testing.T, p string) { check(t, os.Truncate(p, 60)) }, []string{"truncated", restore}},
		"header only": {func(t *testing.T, p string) { check(t, os.Truncate(p, 100)) }, []string{"truncated", restore}},
		"first page":  {func(t *testing.T, p string) { check(t, os.Truncate(p, 4096)) }, []string{"truncated", restore}},
		"half of the pages": {func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)/2)) },
			[]string{"truncated", restore}},
		"a byte short":    {func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)-1)) }, []string{"truncated", restore}},
		"garbage":         {func(t *testing.T, p string) { overwrite(t, p, 0, size(t, p)) }, []string{"not an SQLite database", restore}},
		"a garbled head":  {func(t *testing.T, p string) { overwrite(t, p, 0, 100) }, []string{"not an SQLite database", restore}},
		"garbled schema":  {func(t *testing.T, p string) { overwrite(t, p, 100, 3996) }, []string{"corrupt", restore}},
		"a garbled inner": {func(t *testing.T, p string) { overwrite(t, p, 40*4096, 8*4096) }, []string{"corrupt", restore}},
		"a text file": {func(t *testing.T, p string) { check(t, os.WriteFile(p, bytes.Repeat([]byte("hello\n"), 99), 0o600)) },
			[]string{"not an SQLite database", restore}},
		"another program's": {func(t *testing.T, p string) {
			check(t, os.Remove(p))
			alter(t, p, "CREATE TABLE places (id INTEGER)", "INSERT INTO places VALUES (1)")
		}, []string{"another program", "data_dir"}},
		"another program's, marked": {func(t *testing.T, p string) { alter(t, p, "PRAGMA application_id = 77") },
			[]string{"another program", "0x4d"}},
		"a newer schema": {func(t *testing.T, p string) {
			alter(t, p, fmt.Sprintf("PRAGMA user_version = %d", storage.SchemaVersion+4))
		},
			[]string{fmt.Sprintf("at schema %d but this build knows only %d", storage.SchemaVersion+4, storage.SchemaVersion), "upgrade confab"}},
		"a schema that never was": {func(t *testing.T, p string) { alter(t, p, "PRAGMA user_version = 0") },
			[]string{"incomplete", "schema 0", restore}},
		"without tables": {func(t *testing.T, p string) {
			check(t, os.Remove(p))
			alter(t, p, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", storage.ApplicationID, storage.SchemaVersion))
		}, []string{"incomplete", restore}},
		"without a check value": {func(t *testing.T, p string) { alter(t, p, "DELETE FROM meta") }, []string{"incomplete", restore}},
		"a directory": {func(t *testing.T, p string) {
			check(t, os.Remove(p))
			check(t, os.Mkdir(p, 0o700))
		}, []string{"is a directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newFile(t)
			c.plant(t, o.Path)
			refused(t, o, c.says...)
		})
	}
}

// crashed returns a file as a crash leaves it: the last changes are only in its
// log, what grow stored.
func crashed(t *testing.T, grow func(*storage.Tx) error) storage.Options {
	t.Helper()
	o := newFile(t)
	db, err := storage.Open(o)
	check(t, err)
	storagetest.Update(t, db, insertMany)
	check(t, db.Close())
	db, err = storage.Open(o)
	check(t, err)
	storagetest.Update(t, db, grow)
	left := o
	left.Path = storage.DatabaseFile(t.TempDir())
	copyFile(t, o.Path, left.Path)
	copyFile(t, o.Path+"-wal", left.Path+"-wal")
	check(t, db.Close())
	return left
}

func insertFew(tx *storage.Tx) error {
	_, err := tx.InsertOrganization(&storage.Organization{Name: "in the log", Plan: "free"})
	return err
}

func insertMany(tx *storage.Tx) error {
	for range 50 {
		if err := tx.Run(`INSERT INTO raw_callbacks (field, reason, payload, created_at) VALUES ('f', 'r', zeroblob(4000), 1)`); err != nil {
			return err
		}
	}
	return nil
}

func TestFileThatIsNotSoundIsKeptWithItsLog(t *testing.T) {
	for name, c := range map[string]struct {
		grow  func(*storage.Tx) error
		plant func(t *testing.T, path string)
		says  string
		skip  bool
	}{
		"half of the pages": {grow: insertFew, says: "corrupt",
			plant: func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)/2)) }},
		"most of the pages": {grow: insertFew, says: "neither in it nor in its log",
			plant: func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)*7/8)) }},
		"half of the pages, with a great log": {grow: insertMany, says: "corrupt",
			plant: func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)/2)) }},
		"most of the pages, for a command": {grow: insertFew, says: "neither in it nor in its log", skip: true,
			plant: func(t *testing.T, p string) { check(t, os.Truncate(p, size(t, p)*7/8)) }},
		"no page": {grow: insertFew, says: "truncated",
			plant: func(t *testing.T, p string) { check(t, os.Truncate(p, 0)) }},
		"garbage inside": {grow: insertFew, says: "corrupt",
			plant: func(t *testing.T, p string) { overwrite(t, p, 40*4096, 8*4096) }},
		"newer, says the log": {says: "at schema 77", plant: func(*testing.T, string) {},
			grow: func(tx *storage.Tx) error { return tx.Pragma("PRAGMA user_version = 77") }},
	} {
		t.Run(name, func(t *testing.T) {
			o := crashed(t, c.grow)
			o.SkipCheck = c.skip
			c.plant(t, o.Path)
			refused(t, o, c.says)
		})
	}
}

// A crash in the middle of a checkpoint leaves a file whose header counts pages
// that only the log has.
func TestFileWhosePagesAreInItsLogIsOpened(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	small, err := os.ReadFile(o.Path)
	is.NoErr(err)
	db, err := storage.Open(o)
	is.NoErr(err)
	storagetest.Update(t, db, insertMany)
	log, err := os.ReadFile(o.Path + "-wal")
	is.NoErr(err)
	is.NoErr(db.Close()) // folds the log into the file
	whole, err := os.ReadFile(o.Path)
	is.NoErr(err)

	is.NoErr(os.WriteFile(o.Path, append(whole[:4096:4096], small[4096:]...), 0o600))
	refused(t, o, "truncated") // without the log it is lost
	is.NoErr(os.WriteFile(o.Path+"-wal", log, 0o600))
	db, err = storage.Open(o)
	is.NoErr(err)
	var rows []int
	storagetest.View(t, db, func(rx *storage.Rx) error { return rx.List(&rows, `SELECT count(*) FROM raw_callbacks`) })
	is.Equal(rows, []int{50})
	is.NoErr(db.Close())
	is.Equal(column(t, o.Path, "PRAGMA integrity_check"), []string{"ok"})
}

func TestFileThatCrashedOpensWithWhatWasInItsLog(t *testing.T) {
	is := is.New(t)
	o := crashed(t, insertFew)
	upgrade(t, o)
	is.Equal(column(t, o.Path, "SELECT name FROM organizations ORDER BY id"), []string{"Acme", "in the log"})
}

// SQLite would play the old log into the new file.
func TestFileThatIsMissingBesideItsLogIsNotMadeAnew(t *testing.T) {
	o := crashed(t, insertFew)
	check(t, os.Remove(o.Path))
	refused(t, o, "is missing", "restore the database next to it")
}

func TestFileIsNotVerifiedForCommands(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	overwrite(t, o.Path, 40*4096, 8*4096)
	o.SkipCheck = true
	db, err := storage.Open(o)
	is.NoErr(err)
	is.NoErr(db.Close())
}

// The modes of files do not bind root, so another user tries.
func TestFileThatCannotBeWrittenIsRefusedAndKept(t *testing.T) {
	var user uint32
	if os.Getuid() == 0 {
		user = 65534
	}
	const nothing, closed, crash = 0, 1, 2 // the state of the directory
	for name, c := range map[string]struct {
		holds          int
		dir, key, file os.FileMode
		says           string
	}{
		"a read-only directory":                 {nothing, 0o555, 0, 0, "cannot be written"},
		"a read-only directory with a database": {closed, 0o555, 0o600, 0o600, "cannot be written"},
		"a read-only directory after a crash":   {crash, 0o555, 0o600, 0o600, "cannot be written"},
		"a read-only database":                  {closed, 0o700, 0o600, 0o400, "cannot be written"},
		"an unreadable database":                {closed, 0o700, 0o600, 0, "cannot be written"},
		"an unreadable key":                     {closed, 0o700, 0, 0o600, "read the master key"},
		"a directory that may not be entered":   {closed, 0, 0o600, 0o600, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			data := openDir(t)
			key, file := filepath.Join(data, storage.MasterKeyFile), storage.DatabaseFile(data)
			if c.holds != nothing {
				o := crashed(t, insertFew)
				if c.holds == closed {
					upgrade(t, o)
				}
				is.NoErr(os.Remove(data))
				is.NoErr(os.Rename(filepath.Dir(o.Path), data))
				is.NoErr(os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(o.MasterKey)), 0o600))
			}
			if c.holds == crash {
				is.NoErr(os.WriteFile(file+"-shm", nil, 0o600))
			}
			before := snapshot(t, data)
			give(t, data, int(user))
			for path, mode := range map[string]os.FileMode{key: c.key, file: c.file} {
				if c.holds != nothing {
					is.NoErr(os.Chmod(path, mode))
				}
			}
			is.NoErr(os.Chmod(data, c.dir))
			out, err := newChild(t, "open", data, user).CombinedOutput()
			is.NoErr(os.Chmod(data, 0o700))
			for _, path := range []string{key, file} {
				if c.holds != nothing {
					is.NoErr(os.Chmod(path, 0o600))
				}
			}
			t.Log(string(out))
			is.True(err != nil)
			is.True(strings.Contains(string(out), c.says))
			is.True(strings.Contains(string(out), "check the owner and mode"))
			is.Equal(snapshot(t, data), before)
		})
	}
}

// give makes everything below dir another user's.
func give(t *testing.T, dir string, user int) {
	t.Helper()
	if user == 0 {
		return
	}
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, user, user))
	}))
}
