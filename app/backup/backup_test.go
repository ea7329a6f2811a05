package backup_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/backup"
	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// newInstallation makes a data directory with a tenant and two media files.
func newInstallation(t *testing.T) datadir.Dir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := datadir.Dir(dir).Prepare(); err != nil {
		t.Fatal(err)
	}
	db := storagetest.OpenDir(t, dir)
	files := storagetest.Files(t, dir)
	account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Beta"), "100200300")
	for _, content := range []string{"one", "two"} {
		upload, err := files.Create()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(upload, content)
		sum, err := upload.Keep(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.InsertMedia(&storage.Media{AccountID: account.ID, Origin: storage.OriginLibrary, SHA256: sum, MIMEType: "text/plain", Size: int64(len(content))})
		})
	}
	if err := db.Close(); err != nil { // tests look into the file
		t.Fatal(err)
	}
	return datadir.Dir(dir)
}

// write backs up a directory, with changes to the options.
func write(t *testing.T, dir datadir.Dir, change func(*backup.Options)) (backup.Manifest, []byte) {
	t.Helper()
	o := backup.Options{Dir: dir, Temp: t.TempDir(), Version: "test", Progress: func(string, int64, int64) {}}
	if change != nil {
		change(&o)
	}
	var archive bytes.Buffer
	m, err := backup.Write(t.Context(), o, &archive)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(o.Temp)
	if err != nil || len(left) > 0 {
		t.Errorf("the copy of the database was left behind: %v %v", left, err)
	}
	return m, archive.Bytes()
}

// restore restores an archive into a directory.
func restore(t *testing.T, archive []byte, dir datadir.Dir) (backup.Restored, error) {
	t.Helper()
	o := backup.RestoreOptions{Dir: dir, Progress: func(string, int64) {}}
	return backup.Restore(t.Context(), o, bytes.NewReader(archive))
}

// entry is a file in an archive.
type entry struct {
	name, content string
	kind          byte
	mode          int64 // as it was packed; not what pack packs
}

// entries reads an archive.
func entries(t *testing.T, archive []byte) (all []entry) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Name, string(text), h.Typeflag, h.Mode})
	}
}

// pack writes an archive.
func pack(t *testing.T, all []entry) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, e := range all {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Size: int64(len(e.content)), Mode: 0o600}
		if e.kind == tar.TypeSymlink {
			h.Size, h.Linkname = 0, "/etc"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			io.WriteString(w, e.content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestABackupIsPackedAsDocumented(t *testing.T) {
	is := is.New(t)
	returned, archive := write(t, newInstallation(t), nil)
	all := entries(t, archive)
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	is.Equal(len(names), 5)
	is.Equal(names[:2], []string{"confab.db", "master.key"})
	for _, e := range all {
		is.Equal(e.mode, int64(0o600))
	}
	is.True(strings.HasPrefix(names[2], "media/"))
	is.Equal(names[4], "manifest.json")
	var m backup.Manifest
	is.NoErr(json.Unmarshal([]byte(all[4].content), &m))
	is.Equal(m, returned)
	is.Equal(m.Format, 1)
	is.Equal(m.SchemaVersion, storage.SchemaVersion)
	is.Equal(m.Media, backup.Media{Files: 2, Size: 6})
	is.True(m.Key)
	is.Equal(m.Version, "test")

	_, err := backup.Write(t.Context(), backup.Options{Dir: datadir.Dir(t.TempDir())}, io.Discard)
	is.True(strings.Contains(err.Error(), "there is no confab database in"))
}

func TestABackupListsWhatIsMissingOrDamaged(t *testing.T) {
	is := is.New(t)
	dir := newInstallation(t)
	_, archive := write(t, dir, nil)
	names := []string{entries(t, archive)[2].name, entries(t, archive)[3].name}
	is.NoErr(os.Remove(dir.File(names[0])))
	is.NoErr(os.WriteFile(dir.File(names[1]), []byte("six"), 0o600))
	m, archive := write(t, dir, nil)
	is.Equal(m.Media, backup.Media{Files: 1, Size: 3, Missing: []string{filepath.Base(names[0])}, Damaged: []string{filepath.Base(names[1])}})

	restored := datadir.Dir(t.TempDir())
	_, err := restore(t, archive, restored) // what was damaged before is no fault of the backup
	is.NoErr(err)
	text, err := os.ReadFile(restored.File(names[1]))
	is.NoErr(err)
	is.Equal(string(text), "six")
}

func TestABackupWithoutTheKey(t *testing.T) {
	is := is.New(t)
	dir := newInstallation(t)
	_, archive := write(t, dir, func(o *backup.Options) { o.WithoutKey = true })
	for _, e := range entries(t, archive) {
		is.True(e.name != storage.MasterKeyFile)
	}
	out, err := restore(t, archive, datadir.Dir(t.TempDir()))
	is.NoErr(err)
	is.True(!out.KeyChecked)

	// A key that lies in the directory is tried.
	stranger := datadir.Dir(t.TempDir())
	_, err = storage.LoadMasterKey(string(stranger), "")
	is.NoErr(err)
	for from, fits := range map[datadir.Dir]bool{dir: true, stranger: false} {
		key, err := os.ReadFile(from.File(storage.MasterKeyFile))
		is.NoErr(err)
		to := datadir.Dir(t.TempDir())
		is.NoErr(os.WriteFile(to.File(storage.MasterKeyFile), key, 0o600))
		out, err := restore(t, archive, to)
		is.Equal(err == nil, fits)
		exists, existsErr := to.Exists()
		is.NoErr(existsErr)
		is.Equal(exists, fits)
		if fits {
			is.True(out.KeyChecked)
		} else {
			is.True(strings.Contains(err.Error(), "the master key does not match this database"))
		}
	}
}
