package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"confab/storage/sqlite"
)

// ErrDamagedFile means that the content of a file is not what its name says.
var ErrDamagedFile = errors.New("the file is damaged")

// EachLocal calls fn with the files that are not, or not yet known to be, in object storage.
func (f *Files) EachLocal(fn func(sum string, size int64) error) error {
	return f.eachIn(".", func(files []fs.FileInfo) error {
		for _, info := range files {
			if err := fn(info.Name(), info.Size()); err != nil {
				return err
			}
		}
		return nil
	})
}

// MoveToStore makes an object of a file, which stays as a copy. A server may have the file
// open, read it or delete it meanwhile.
func (f *Files) MoveToStore(ctx context.Context, sum string) error {
	file, err := f.root.Open(fileName(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	defer file.Close()

	size, err := checkHash(file, sum)
	if err != nil {
		return err
	}
	if err := f.store.objects.Put(ctx, objectKey(sum), io.NewSectionReader(file, 0, size), size); err != nil {
		return storeError(err)
	}

	if err := f.root.MkdirAll(copiesDir+"/"+sum[:shardLength], 0o700); err != nil {
		return sqlite.DiskError(err)
	}
	if err := f.root.Rename(fileName(sum), copyName(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sqlite.DiskError(err)
	}
	return f.addCopy(size)
}

// checkHash reads a file and returns its size if its content is what its name says.
func checkHash(file *os.File, sum string) (int64, error) {
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	if err == nil && hex.EncodeToString(hash.Sum(nil)) != sum {
		err = fmt.Errorf("%w: %s", ErrDamagedFile, fileName(sum))
	}
	return size, err
}

// MoveFromStore makes a durable file of an object, which stays, unless there is one.
func (f *Files) MoveFromStore(ctx context.Context, sum string) (moved bool, err error) {
	if _, err := f.root.Stat(fileName(sum)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	_, err = f.fetch(ctx, sum, fileName(sum))
	return err == nil, err
}
