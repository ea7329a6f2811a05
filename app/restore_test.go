package app_test

import (
	"archive/tar"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// TestRestoreRefusesWhatIsNotWhole changes each part of a sound archive, and
// expects exit status 1, a reason, and an empty directory.
func TestRestoreRefusesWhatIsNotWhole(t *testing.T) {
	_, archive := backedUp(t)
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
	const damaged, foreign = "the backup is damaged", "no backup of confab"
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
		"a newer format":       {change(4, func(e *entry) { e.content = storagetest.Swap(t, e.content, `"format": 1`, `"format": 2`) }), "has format 2 and this build knows only 1"},
		"a manifest of text":   {change(4, func(e *entry) { e.content = "hello" }), foreign},
		"a way out":            {change(2, func(e *entry) { e.name = "media/../../../out" }), foreign},
		"an absolute name":     {change(2, func(e *entry) { e.name = "/tmp/out" }), foreign},
		"a link":               {change(2, func(e *entry) { e.name, e.kind = "media", tar.TypeSymlink }), foreign},
		"another file":         {append([]entry{{name: "confab.sock", content: "x", kind: tar.TypeReg}}, sound...), foreign},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := filepath.Join(t.TempDir(), "data")
			says := refused(t, "restore", pack(t, c.all), "--data-dir", dir)
			t.Log(says)
			is.True(strings.Contains(says, c.says))
			leftEmpty(t, dir)
		})
	}
}

// leftEmpty wants a directory to hold nothing that matters.
func leftEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
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
	_, archive := backedUp(t)
	whole, err := os.ReadFile(archive)
	is.NoErr(err)
	for _, length := range []int{0, 1, 511, 512, 3000, len(whole) / 2, len(whole) - 2500} {
		cut := filepath.Join(t.TempDir(), "cut.tar")
		is.NoErr(os.WriteFile(cut, whole[:length], 0o600))
		dir := filepath.Join(t.TempDir(), "data")
		refused(t, "restore", cut, "--data-dir", dir)
		leftEmpty(t, dir)
	}
}

// TestRestoreRefusesADatabaseThatIsNotSound has an archive whose manifest fits a
// database that was broken before.
func TestRestoreRefusesADatabaseThatIsNotSound(t *testing.T) {
	is := is.New(t)
	dir, _ := backedUp(t)
	file := storage.DatabaseFile(dir)
	text, err := os.ReadFile(file)
	is.NoErr(err)
	for i := 8192; i < len(text)-8192; i += 4096 {
		copy(text[i:], strings.Repeat("\xa5", 60))
	}
	is.True(storage.CheckDatabase(file, nil) == nil)
	is.NoErr(os.WriteFile(file, text, 0o600))
	is.True(storage.CheckDatabase(file, nil) != nil)
}

func TestRestoreWantsAnEmptyDirectory(t *testing.T) {
	is := is.New(t)
	dir, archive := backedUp(t)
	before, err := os.ReadFile(storage.DatabaseFile(dir))
	is.NoErr(err)
	says := refused(t, "restore", archive, "--data-dir", dir)
	is.True(strings.Contains(says, "is not empty (it holds confab.db"))
	after, err := os.ReadFile(storage.DatabaseFile(dir))
	is.NoErr(err)
	is.Equal(before, after)

	s := newServer(t)
	says = refused(t, "restore", archive, "--data-dir", s.dir)
	is.True(strings.Contains(says, "is in use: a server runs on this data directory"))
	says = refused(t, "restore", filepath.Join(t.TempDir(), "none.tar"), "--data-dir", t.TempDir())
	is.True(strings.Contains(says, "no such file"))
	is.True(datadir.Dir(s.dir).Exists())
}
