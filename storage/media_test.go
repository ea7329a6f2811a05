package storage_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// helloSum is the SHA-256 of "hello".
const helloSum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

// put keeps a file and returns its hash.
func put(t *testing.T, files *storage.Files, content string) string {
	t.Helper()
	up, err := files.Create()
	check(t, err)
	_, err = io.WriteString(up, content)
	check(t, err)
	sum, err := up.Keep(context.Background())
	check(t, err)
	up.Discard() // does nothing any more
	return sum
}

// stored lists every file below a directory.
func stored(t *testing.T, dir string) (names []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	}))
	return names
}

func TestContentIsStoredOnceUnderItsHash(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	is.Equal(put(t, files, "hello"), helloSum)
	is.Equal(put(t, files, "hello"), helloSum)
	is.Equal(stored(t, dir), []string{"media/2c/" + helloSum})
	f, err := files.Open(context.Background(), helloSum)
	is.NoErr(err)
	defer f.Close()
	content, err := io.ReadAll(f)
	is.NoErr(err)
	is.Equal(string(content), "hello")
	info, err := f.Stat()
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))
}

func TestADiscardedUploadLeavesNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	up, err := files.Create()
	is.NoErr(err)
	_, err = io.WriteString(up, "hello")
	is.NoErr(err)
	is.Equal(up.Size(), int64(5))
	up.Discard()
	up.Discard()
	is.Equal(stored(t, dir), nil)
}

func TestAnUploadCutOffByACrashIsGoneAfterTheRestart(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	sum := put(t, files, "hello")
	up, err := files.Create()
	is.NoErr(err)
	_, err = io.WriteString(up, "half")
	is.NoErr(err)
	is.Equal(len(stored(t, dir)), 2)
	again := storagetest.Files(t, dir) // the first is still open
	is.Equal(stored(t, dir), []string{"media/2c/" + sum})
	f, err := again.Open(context.Background(), sum)
	is.NoErr(err)
	f.Close()
}

func TestNoNameLeadsOutOfTheDirectory(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	is.NoErr(os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600))
	for _, name := range []string{"", "x", "../secret", "../../secret", strings.ToUpper(helloSum), helloSum[:63], helloSum + "0", "incoming"} {
		_, err := files.Open(context.Background(), name)
		is.True(errors.Is(err, fs.ErrNotExist)) // there is no such file
		is.NoErr(files.Remove(name, time.Now().Add(time.Hour)))
	}
	is.Equal(len(stored(t, dir)), 1)
}

func TestOnlyAFileThatIsOldEnoughIsRemoved(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	sum := put(t, files, "hello")
	old := time.Now().Add(-2 * time.Hour)
	is.NoErr(os.Chtimes(filepath.Join(dir, "media", "2c", sum), old, old))
	put(t, files, "hello") // again: young once more
	is.NoErr(files.Remove(sum, time.Now().Add(-time.Hour)))
	is.Equal(len(stored(t, dir)), 1)
	seen := 0
	count := func(sums []string) error { seen += len(sums); return nil }
	is.NoErr(files.Each(time.Now().Add(-time.Hour), count))
	is.Equal(seen, 0)

	is.NoErr(os.Chtimes(filepath.Join(dir, "media", "2c", sum), old, old))
	is.NoErr(files.Each(time.Now().Add(-time.Hour), count))
	is.Equal(seen, 1)
	is.NoErr(files.Remove(sum, time.Now().Add(-time.Hour)))
	is.NoErr(files.Remove(sum, time.Now().Add(-time.Hour))) // it is gone, which is well
	is.Equal(stored(t, dir), nil)
}

func TestADiskThatRefusesIsUnavailable(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files := storagetest.Files(t, dir)
	is.NoErr(os.RemoveAll(filepath.Join(dir, "media")))
	_, err := files.Create()
	is.True(errors.Is(err, storage.ErrUnavailable))
}

func TestMediaIsSentFromEveryNumberOfItsTeam(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	tenant, stranger := storagetest.Seed(t, db, "Acme"), storagetest.Seed(t, db, "Other")
	mine, sister := storagetest.Connect(t, db, tenant, "100200300"), storagetest.Connect(t, db, tenant, "100200301")
	foreign := storagetest.Connect(t, db, stranger, "100200302")
	m := storage.Media{AccountID: mine.ID, Origin: storage.OriginLibrary, SHA256: helloSum, MIMEType: "image/png", Size: 5}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.NoErr(tx.InsertMedia(&m))
		is.NoErr(tx.MarkMediaUploaded(mine.ID, m.ID, "76", 98))
		is.NoErr(tx.MarkMediaUploaded(mine.ID, m.ID, "77", 99)) // again, when the first had expired
		got, err := tx.MediaToSend(mine.ID, m.ID)
		is.NoErr(err)
		is.Equal(*got.ProviderID, "77")
		is.Equal(got.ExpiresAt, storage.Time(99))
		got, err = tx.MediaToSend(sister.ID, m.ID)
		is.NoErr(err)
		is.True(got.ProviderID == nil) // the provider keeps each number's apart
		is.NoErr(tx.MarkMediaUploaded(sister.ID, m.ID, "78", 99))
		got, err = tx.MediaToSend(sister.ID, m.ID)
		is.NoErr(err)
		is.Equal(*got.ProviderID, "78")
		_, err = tx.MediaToSend(foreign.ID, m.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = tx.TeamMedia(sister.TeamID, m.ID)
		is.NoErr(err)
		_, err = tx.TeamMedia(foreign.TeamID, m.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteMedia(mine.ID, m.ID) })
	is.Equal(len(storagetest.Select[string](t, dir, `SELECT media_id FROM media_uploads`)), 0)
}

func TestMediaBelongsToItsAccountUntilItIsDeleted(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	mine, other := storagetest.Connect(t, db, tenant, "100200300"), storagetest.Connect(t, db, tenant, "100200301")
	name := "a b.png"
	m := storage.Media{AccountID: mine.ID, Origin: storage.OriginLibrary, SHA256: helloSum, MIMEType: "image/png", Size: 5, Filename: &name}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertMedia(&m) })
	is.True(storage.ValidID(storage.PrefixMedia, m.ID))
	is.Equal(len(m.URLToken), 32)
	is.Equal(storage.MediaPath(m.URLToken, m.Filename), "/media/"+m.URLToken+"/a%20b.png")

	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.True(errors.Is(tx.MarkMediaDeleted(other.ID, m.ID), storage.ErrNotFound))
		_, err := tx.Media(mine.ID, m.ID)
		is.NoErr(err)
		_, err = tx.Media(other.ID, m.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = tx.MediaByToken(m.URLToken)
		is.NoErr(err)
		return tx.MarkMediaDeleted(mine.ID, m.ID)
	})
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.True(errors.Is(tx.MarkMediaDeleted(mine.ID, m.ID), storage.ErrNotFound)) // once
		_, err := tx.Media(mine.ID, m.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = tx.MediaByToken(m.URLToken)
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = tx.MediaToSend(mine.ID, m.ID) // what was accepted still goes out
		is.NoErr(err)
		used, err := tx.MediaUses(helloSum)
		is.NoErr(err)
		is.True(used)
		is.NoErr(tx.DeleteMedia(mine.ID, m.ID))
		used, err = tx.MediaUses(helloSum)
		is.True(!used)
		return err
	})
}
