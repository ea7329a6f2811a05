package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"confab/storage/objects"
	"confab/storage/sqlite"
)

// MediaDir is the name of the directory of files in the data directory.
const MediaDir = "media"

const incomingDir = "incoming"

// Files keeps content on disk under the name of its hash, so that what comes
// twice is stored once. Only one process may have a directory open. With object
// storage the directory only has copies; see media_store.go.
type Files struct {
	root *os.Root
	// mu is held while a file's age is read and it is removed, and while the same
	// content is put in its place, so that no young file is removed.
	mu    sync.Mutex
	store *mediaStore // nil without object storage
}

// OpenFiles opens a directory, or makes it, and removes what a crash left half received. With object
// storage, if that is not nil, it has copies of up to maxBytes.
func OpenFiles(dir string, store objects.Store, maxBytes int64) (*Files, error) {
	if err := os.RemoveAll(filepath.Join(dir, incomingDir)); err != nil {
		return nil, sqlite.NotWritable(dir, err)
	}
	return OpenFilesBeside(dir, store, maxBytes)
}

// OpenFilesBeside is OpenFiles for a command beside a server that has the directory open: what the
// server is receiving is left alone.
func OpenFilesBeside(dir string, store objects.Store, maxBytes int64) (*Files, error) {
	if err := os.MkdirAll(filepath.Join(dir, incomingDir), 0o700); err != nil {
		return nil, sqlite.NotWritable(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("media directory: %w", err)
	}

	f := &Files{root: root}
	if store == nil {
		return f, nil
	}
	f.store = &mediaStore{objects: store, fetches: make(chan struct{}, fetchesAtOnce), maxBytes: maxBytes}
	if err := f.evict(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close lets the directory go.
func (f *Files) Close() error { return f.root.Close() }

// Upload is content on its way in, which no one sees until Keep makes a file of it.
type Upload struct {
	files *Files
	name  string
	file  *os.File
	sum   hash.Hash
	size  int64
}

// Create begins an upload.
func (f *Files) Create() (*Upload, error) {
	name := path.Join(incomingDir, rand.Text())
	file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, sqlite.DiskError(err)
	}
	return &Upload{files: f, name: name, file: file, sum: sha256.New()}, nil
}

// Write adds content. Its error is always the disk's.
func (u *Upload) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	u.sum.Write(p[:n])
	u.size += int64(n)
	return n, sqlite.DiskError(err)
}

// Size is how much was written.
func (u *Upload) Size() int64 { return u.size }

// ReadAt reads back what was written, before it is kept.
func (u *Upload) ReadAt(p []byte, off int64) (int, error) { return u.file.ReadAt(p, off) }

// Reader reads back all that was written, before it is kept.
func (u *Upload) Reader() io.ReadSeeker { return io.NewSectionReader(u.file, 0, u.size) }

// Keep makes the content a durable file and returns its name, the SHA-256 in
// hexadecimal. A row may name it once Keep has returned, within the grace time
// of Remove. A file that is there already is replaced by its equal, which makes
// it young again and heals one that was damaged. Object storage has it before Keep
// returns; while that is away, the error is ErrMediaStore.
func (u *Upload) Keep(ctx context.Context) (string, error) {
	sum := hex.EncodeToString(u.sum.Sum(nil))
	if u.files.store != nil {
		return sum, u.keepObject(ctx, sum)
	}
	return sum, u.place(fileName(sum))
}

func (u *Upload) place(target string) error {
	now := time.Now()
	root := u.files.root

	// The content and the age of the file must be on disk before its name is.
	err := errors.Join(u.file.Sync(), u.file.Close(), root.Chtimes(u.name, now, now))
	if err == nil {
		err = root.MkdirAll(path.Dir(target), 0o700)
	}
	if err != nil {
		return sqlite.DiskError(err)
	}

	u.files.mu.Lock()
	err = root.Rename(u.name, target)
	u.files.mu.Unlock()
	if err != nil {
		return sqlite.DiskError(err)
	}
	u.name = ""

	// A name is durable once its directory was synced.
	return sqlite.DiskError(errors.Join(u.files.sync(path.Dir(target)), u.files.sync(".")))
}

// Discard forgets an upload that was not kept.
func (u *Upload) Discard() {
	if u.name != "" {
		u.file.Close() // it may be closed, and its content is not wanted
		u.files.root.Remove(u.name)
		u.name = ""
	}
}

// Open opens a file by its hash. One that only object storage has is copied first; while
// that is away, the error is ErrMediaStore.
func (f *Files) Open(ctx context.Context, sum string) (*os.File, error) {
	if !ValidSum(sum) {
		return nil, fs.ErrNotExist
	}

	file, err := f.root.Open(fileName(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return f.openCopy(ctx, sum)
	}
	return file, err
}

// Remove deletes a file that has not been put there, or again, since a time. A
// younger one may be about to get its row; it is left, as is one that is gone. A copy of
// an object is deleted whatever its age; DeleteObject is for the object itself.
func (f *Files) Remove(sum string, since time.Time) error {
	if !ValidSum(sum) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	info, err := f.root.Stat(fileName(sum))
	if err == nil && info.ModTime().Before(since) {
		err = f.root.Remove(fileName(sum))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if err := f.root.Remove(copyName(sum)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Each calls fn with the hashes of files that have not been put there since a
// time, some at once. Copies of objects count as files.
func (f *Files) Each(since time.Time, fn func(sums []string) error) error {
	for _, dir := range []string{".", copiesDir} {
		err := f.eachIn(dir, func(files []fs.FileInfo) error {
			var sums []string
			for _, info := range files {
				if info.ModTime().Before(since) {
					sums = append(sums, info.Name())
				}
			}
			return fn(sums)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls fn with the files in a directory, one of its 256 directories at a time.
func (f *Files) eachIn(dir string, fn func([]fs.FileInfo) error) error {
	shards, err := fs.ReadDir(f.root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	for _, shard := range shards {
		if len(shard.Name()) != shardLength || !shard.IsDir() {
			continue
		}
		entries, err := fs.ReadDir(f.root.FS(), path.Join(dir, shard.Name()))
		if err != nil {
			return err
		}

		var files []fs.FileInfo
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && ValidSum(entry.Name()) {
				files = append(files, info)
			}
		}

		if err := fn(files); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// shardLength is how many characters of its hash the directory of a file has.
const shardLength = 2

// fileName spreads the files over 256 directories.
func fileName(sum string) string { return sum[:shardLength] + "/" + sum }

// ValidSum reports whether a text is the name of a file.
func ValidSum(sum string) bool {
	raw, err := hex.DecodeString(sum)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == sum
}
