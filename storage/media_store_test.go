package storage_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/objects"
	"confab/storage/objects/objectstest"
)

// storedFiles opens a directory whose files are in object storage.
func storedFiles(t *testing.T, dir string, maxBytes int64) (*storage.Files, *objectstest.Server, objects.Store) {
	t.Helper()
	server := objectstest.New(t)
	store, err := objects.Open(server.Address("media"), objects.Credentials{AccessKeyID: objectstest.Key, SecretAccessKey: objectstest.Secret})
	check(t, err)
	files, err := storage.OpenFiles(dir, store, maxBytes)
	check(t, err)
	t.Cleanup(func() { files.Close() })
	return files, server, store
}

func keepFile(t *testing.T, files *storage.Files, content string) (string, error) {
	t.Helper()
	up, err := files.Create()
	check(t, err)
	defer up.Discard()
	_, err = io.WriteString(up, content)
	check(t, err)
	return up.Keep(t.Context())
}

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func readFile(t *testing.T, files *storage.Files, sum string) string {
	t.Helper()
	f, err := files.Open(t.Context(), sum)
	check(t, err)
	defer f.Close()
	text, err := io.ReadAll(f)
	check(t, err)
	return string(text)
}

// copies are the sizes of the copies in a directory, together.
func copies(t *testing.T, dir string) (total int64) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "copies", "*", "*"))
	check(t, err)
	for _, path := range found {
		info, err := os.Stat(path)
		check(t, err)
		total += info.Size()
	}
	return total
}

func TestWhatIsKeptIsInObjectStorage(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files, server, store := storedFiles(t, dir, 1<<20)

	sum, err := keepFile(t, files, "hello")
	is.NoErr(err)
	is.Equal(sum, sumOf("hello"))
	o, err := store.Stat(t.Context(), sum[:2]+"/"+sum)
	is.NoErr(err)
	is.Equal(o.Size, int64(5))

	// The copy serves while the storage is away, and is made again once it is lost.
	server.Break(objectstest.Away)
	is.Equal(readFile(t, files, sum), "hello")
	is.NoErr(os.RemoveAll(filepath.Join(dir, "copies")))
	_, err = files.Open(t.Context(), sum)
	is.True(errors.Is(err, storage.ErrMediaStore))
	server.Break(nil)
	is.Equal(readFile(t, files, sum), "hello")

	// What no row will name is not there either.
	_, err = files.Open(t.Context(), sumOf("absent"))
	is.True(errors.Is(err, fs.ErrNotExist))
}

func TestAFileIsNotKeptWhileTheStorageRefusesIt(t *testing.T) {
	for name, fault := range map[string]objectstest.Fault{"away": objectstest.Away, "full": objectstest.Full} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			files, server, _ := storedFiles(t, dir, 1<<20)
			server.Break(fault)
			_, err := keepFile(t, files, "hello")
			is.True(errors.Is(err, storage.ErrMediaStore))
			is.True(errors.Is(err, storage.ErrUnavailable))
			is.Equal(copies(t, dir), int64(0))
			server.Break(nil)
			_, err = keepFile(t, files, "hello")
			is.NoErr(err)
		})
	}
}

func TestCopiesHaveABound(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files, server, _ := storedFiles(t, dir, 10_000)
	var sums []string
	for i := range 20 {
		sum, err := keepFile(t, files, fmt.Sprintf("%01000d", i))
		is.NoErr(err)
		sums = append(sums, sum)
		is.True(copies(t, dir) <= 10_000)
		is.Equal(readFile(t, files, sums[0])[:5], "00000") // the one that is always read stays
	}

	before := server.Calls()
	readFile(t, files, sums[0])
	readFile(t, files, sums[19])
	is.Equal(server.Calls(), before)
	for i, sum := range sums {
		is.Equal(readFile(t, files, sum), fmt.Sprintf("%01000d", i))
		is.True(copies(t, dir) <= 10_000)
	}

	// A file larger than the bound is served too.
	sum, err := keepFile(t, files, strings.Repeat("x", 20_000))
	is.NoErr(err)
	is.Equal(len(readFile(t, files, sum)), 20_000)
}

func TestSeveralReadersFetchAnObjectOnce(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	files, server, _ := storedFiles(t, dir, 1<<20)
	sum, err := keepFile(t, files, "hello")
	is.NoErr(err)
	is.NoErr(files.Remove(sum, time.Time{})) // the copy; the object stays

	before := server.Calls()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			f, err := files.Open(context.Background(), sum)
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		})
	}
	group.Wait()
	is.Equal(server.Calls(), before+1)
}

func TestADamagedObjectIsNotServed(t *testing.T) {
	is := is.New(t)
	files, _, store := storedFiles(t, t.TempDir(), 1<<20)
	sum := sumOf("hello")
	is.NoErr(store.Put(t.Context(), sum[:2]+"/"+sum, strings.NewReader("hullo"), 5))
	_, err := files.Open(t.Context(), sum)
	is.True(err != nil && strings.Contains(err.Error(), "is damaged"))
}

func TestYoungObjectsAreNotDeleted(t *testing.T) {
	is := is.New(t)
	files, _, store := storedFiles(t, t.TempDir(), 1<<20)
	sum, err := keepFile(t, files, "hello")
	is.NoErr(err)

	gone, err := files.DeleteObject(t.Context(), sum, time.Now().Add(-time.Hour))
	is.NoErr(err)
	is.True(!gone)
	_, err = store.Stat(t.Context(), sum[:2]+"/"+sum)
	is.NoErr(err)

	for range 2 { // the second finds none
		gone, err = files.DeleteObject(t.Context(), sum, time.Now().Add(time.Hour))
		is.NoErr(err)
		is.True(gone)
	}
	_, err = store.Stat(t.Context(), sum[:2]+"/"+sum)
	is.True(errors.Is(err, objects.ErrNotFound))
}

func TestFilesFromBeforeAreReadWhereTheyLie(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	old, err := storage.OpenFiles(dir, nil, 0)
	is.NoErr(err)
	sum, err := keepFile(t, old, "old")
	is.NoErr(err)
	is.NoErr(old.Close())

	files, server, _ := storedFiles(t, dir, 1<<20)
	is.Equal(readFile(t, files, sum), "old")
	is.Equal(server.Calls(), int64(0))
}
