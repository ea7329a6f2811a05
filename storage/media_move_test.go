package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/objects/objectstest"
)

func TestFilesMoveToObjectStorageAndBack(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	server, err := storage.OpenFiles(dir, nil, 0) // a server, which has the directory open all the while
	is.NoErr(err)
	t.Cleanup(func() { server.Close() })
	one, err := keepFile(t, server, "one")
	is.NoErr(err)
	bad, err := keepFile(t, server, "bad")
	is.NoErr(err)
	is.NoErr(os.WriteFile(filepath.Join(dir, bad[:2], bad), []byte("bed"), 0o600))
	receiving, err := server.Create()
	is.NoErr(err)
	_, err = receiving.Write([]byte("two"))
	is.NoErr(err)

	_, double, store := storedFiles(t, t.TempDir(), 0)
	files, err := storage.OpenFilesBeside(dir, store, 1<<20)
	is.NoErr(err)
	t.Cleanup(func() { files.Close() })

	// While the storage is away the file stays; when it is back the rest goes.
	double.Break(objectstest.Away)
	is.True(errors.Is(files.MoveToStore(t.Context(), one), storage.ErrMediaStore))
	is.Equal(readFile(t, server, one), "one")
	double.Break(nil)
	is.NoErr(files.MoveToStore(t.Context(), one))
	is.NoErr(files.MoveToStore(t.Context(), one)) // there is nothing left of it
	is.True(errors.Is(files.MoveToStore(t.Context(), bad), storage.ErrDamagedFile))
	is.Equal(readFile(t, server, one), "one")
	two, err := receiving.Keep(t.Context())
	is.NoErr(err) // it was not disturbed

	var left []string
	is.NoErr(files.EachLocal(func(sum string, _ int64) error { left = append(left, sum); return nil }))
	is.Equal(len(left), 2) // the damaged one, and what has come since
	is.NoErr(files.MoveToStore(t.Context(), two))

	is.NoErr(os.RemoveAll(filepath.Join(dir, "copies")))
	for range 2 {
		_, err = files.MoveFromStore(t.Context(), one)
		is.NoErr(err)
	}
	double.Break(objectstest.Away)
	is.Equal(readFile(t, server, one), "one")
}
