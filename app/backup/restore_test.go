package backup_test

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/backup"
	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// TestRestoreRefusesWhatIsNotWhole changes each part of a sound archive, and
// expects a reason and an empty directory.
func TestRestoreRefusesWhatIsNotWhole(t *testing.T) {
	_, archive := write(t, newInstallation(t), nil)
	sound := entries(t, archive)
	change := func(i int, f func(*entry)) []entry {
		all := slices.Clone(sound)
		f(&all[i])
		return all
	}
	flip := func(at int) func(*entry) {
		return func(e *entry) {
			text := []byte(e.content)
			text[at] ^= 0xff
			e.content = string(text)
		}
	}
	const damaged, foreign = "the backup is damaged", "not a confab backup"
	for name, c := range map[string]struct {
		all  []entry
		says string
	}{
		"no manifest":          {sound[:4], foreign},
		"empty":                {nil, foreign},
		"no database":          {sound[1:], damaged},
		"no key":               {slices.Delete(slices.Clone(sound), 1, 2), damaged},
		"a file less":          {slices.Delete(slices.Clone(sound), 2, 3), damaged},
		"a changed database":   {change(0, flip(5000)), damaged},
		"a changed file":       {change(2, flip(1)), damaged},
		"a file of other name": {change(2, func(e *entry) { e.name = sound[3].name }), "twice"},
		"a longer file":        {change(2, func(e *entry) { e.content += "x" }), damaged},
		"a newer format":       {change(4, func(e *entry) { e.content = storagetest.Swap(t, e.content, `"format": 1`, `"format": 2`) }), "has format 2, but this build supports only 1"},
		"a manifest of text":   {change(4, func(e *entry) { e.content = "hello" }), foreign},
		"a way out":            {change(2, func(e *entry) { e.name = "media/../../../out" }), foreign},
		"an absolute name":     {change(2, func(e *entry) { e.name = "/tmp/out" }), foreign},
		"a link":               {change(2, func(e *entry) { e.name, e.kind = "media", tar.TypeSymlink }), foreign},
		"another file":         {append([]entry{{name: "confab.sock", content: "x", kind: tar.TypeReg}}, sound...), foreign},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := datadir.Dir(t.TempDir())
			_, err := restore(t, pack(t, c.all), dir)
			t.Log(err)
			is.True(err != nil && strings.Contains(err.Error(), c.says))
			leftEmpty(t, dir)
		})
	}
}

// leftEmpty wants a directory to hold nothing that matters.
func leftEmpty(t *testing.T, dir datadir.Dir) {
	t.Helper()
	left, err := os.ReadDir(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.Name() != ".gitignore" && e.Name() != "serve.lock" {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestRestoreRefusesACutFile(t *testing.T) {
	is := is.New(t)
	_, whole := write(t, newInstallation(t), nil)
	for _, length := range []int{0, 1, 511, 512, 3000, len(whole) / 2, len(whole) - 2500} {
		dir := datadir.Dir(t.TempDir())
		_, err := restore(t, whole[:length], dir)
		is.True(err != nil && strings.Contains(err.Error(), "this is not a confab backup, or it is incomplete"))
		leftEmpty(t, dir)
	}
}

// A backup that was made before an upgrade is the way back, and the way on: it may be of any
// release. What it holds is upgraded when a server opens it.
func TestABackupOfEveryReleaseIsRestored(t *testing.T) {
	for version := 1; version <= storage.SchemaVersion; version++ {
		t.Run(fmt.Sprint("schema ", version), func(t *testing.T) {
			is := is.New(t)
			dir := datadir.Dir(filepath.Join(t.TempDir(), "old"))
			is.NoErr(dir.Prepare())
			key := base64.StdEncoding.EncodeToString([]byte("frozen databases share this key."))
			is.NoErr(os.WriteFile(dir.File(storage.MasterKeyFile), []byte(key), 0o600))
			dump, err := os.ReadFile(fmt.Sprintf("../../storage/testdata/v%d.sql", version))
			is.NoErr(err)
			is.NoErr(os.WriteFile(storage.DatabaseFile(string(dir)), nil, 0o600))
			storagetest.Exec(t, string(dir), string(dump))

			m, archive := write(t, dir, nil)
			restored := datadir.Dir(t.TempDir())
			out, err := restore(t, archive, restored)
			is.NoErr(err)
			is.True(out.KeyChecked)
			is.Equal(out.Messages, m.Messages)
			storagetest.OpenDir(t, string(restored)) // by this release
			is.Equal(storagetest.Select[int](t, string(restored), "PRAGMA user_version"), []int{storage.SchemaVersion})
		})
	}
}

// TestRestoreRefusesADatabaseThatIsNotSound has an archive whose manifest fits a
// database that was broken before.
func TestRestoreRefusesADatabaseThatIsNotSound(t *testing.T) {
	is := is.New(t)
	m, archive := write(t, newInstallation(t), nil)
	all := entries(t, archive)
	text := []byte(all[0].content)
	for i := 8192; i < len(text)-8192; i += 4096 {
		copy(text[i:], strings.Repeat("\xa5", 60))
	}
	all[0].content = string(text)
	sum := sha256.Sum256(text)
	all[4].content = storagetest.Swap(t, all[4].content, m.Database.SHA256, hex.EncodeToString(sum[:]))

	dir := datadir.Dir(t.TempDir())
	_, err := restore(t, pack(t, all), dir)
	t.Log(err)
	is.True(err != nil && !strings.Contains(err.Error(), "the backup is damaged")) // the manifest did fit
	leftEmpty(t, dir)
}

func TestRestoreWantsAnEmptyDirectory(t *testing.T) {
	is := is.New(t)
	dir := newInstallation(t)
	_, archive := write(t, dir, nil)
	before, err := os.ReadFile(storage.DatabaseFile(string(dir)))
	is.NoErr(err)
	_, err = restore(t, archive, dir)
	is.True(strings.Contains(err.Error(), "is not empty (it contains confab.db"))
	after, err := os.ReadFile(storage.DatabaseFile(string(dir)))
	is.NoErr(err)
	is.Equal(before, after)

	served := datadir.Dir(t.TempDir())
	lock, err := served.Lock()
	is.NoErr(err)
	defer lock.Close()
	_, err = restore(t, archive, served)
	is.True(strings.Contains(err.Error(), "is in use: a server is running on this data directory"))
}

// TestMediaOfAReplica is in the object storage of the settings, or nobody has it.
func TestMediaOfAReplica(t *testing.T) {
	is := is.New(t)
	from := newInstallation(t)
	key, err := os.ReadFile(from.File(storage.MasterKeyFile))
	is.NoErr(err)
	for store, missing := range map[string]int{"": 2, "s3://bucket/media": 0} {
		o := backup.RestoreOptions{Dir: datadir.Dir(t.TempDir()), MediaStore: store, Progress: func(string, int64) {}}
		is.NoErr(os.WriteFile(o.Dir.File(storage.MasterKeyFile), key, 0o600))
		out, err := backup.RestoreReplica(o, func(file string) (storage.Time, error) {
			text, err := os.ReadFile(storage.DatabaseFile(string(from)))
			return 1, errors.Join(err, os.WriteFile(file, text, 0o600))
		})
		is.NoErr(err)
		is.Equal(len(out.Media.Missing), missing)
		is.Equal(out.Media.Stored, int64(2-missing))
		is.Equal(out.Media.Store, store)
	}
}
