package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// Names in a directory that begin with a dot are no objects.
const (
	unfinished = ".unfinished-" // a file that is being written
	lockName   = ".lock"
)

// directory keeps each object in a file. A file is written under another name and then
// renamed, so that nobody reads half of it. Of contexts only List asks: the others take no time.
type directory struct{ root *os.Root }

func openDirectory(dir string) (*directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &directory{root}, err
}

// Put implements Store.
func (d *directory) Put(_ context.Context, key string, content io.ReadSeeker, _ int64) error {
	temp := unfinished + rand.Text()
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explainDisk(err)
	}
	now := time.Now()
	_, err = io.Copy(f, content)
	err = errors.Join(err, f.Sync(), f.Close(), d.root.Chtimes(temp, now, now))

	if err == nil {
		err = d.root.MkdirAll(path.Dir(key), 0o700)
	}
	if err == nil {
		err = d.root.Rename(temp, key)
	}
	if err != nil {
		d.root.Remove(temp)
		return explainDisk(err)
	}

	// A name is durable once its directory was synced.
	return explainDisk(errors.Join(d.sync(path.Dir(key)), d.sync(".")))
}

func (d *directory) sync(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// PutIf implements Store. A lock on a file lets one at a time compare and rename; the
// system frees it when its process ends.
func (d *directory) PutIf(ctx context.Context, key string, content []byte, version string) (string, error) {
	lock, err := d.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", explainDisk(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}

	found, err := d.Stat(ctx, key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", err
	}
	if found.Version != version {
		return "", ErrChanged
	}

	if err := d.Put(ctx, key, bytes.NewReader(content), int64(len(content))); err != nil {
		return "", err
	}
	found, err = d.Stat(ctx, key)
	return found.Version, err
}

// Get implements Store.
func (d *directory) Get(_ context.Context, key string) (io.ReadCloser, Object, error) {
	f, err := d.root.Open(key)
	if err != nil {
		return nil, Object{}, notFound(err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, Object{}, errors.Join(err, f.Close())
	}
	return f, objectOf(key, info), nil
}

// Stat implements Store.
func (d *directory) Stat(_ context.Context, key string) (Object, error) {
	info, err := d.root.Stat(key)
	if err != nil {
		return Object{}, notFound(err)
	}
	return objectOf(key, info), nil
}

// objectOf describes a file. Every write makes a new file, with an inode and a time of its own.
func objectOf(key string, info fs.FileInfo) Object {
	version := fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		version += fmt.Sprintf("-%x", s.Ino)
	}
	return Object{Key: key, Size: info.Size(), Modified: info.ModTime(), Version: version}
}

// Delete implements Store.
func (d *directory) Delete(_ context.Context, key string) error {
	if err := d.root.Remove(key); !errors.Is(err, fs.ErrNotExist) {
		return explainDisk(err)
	}
	return nil
}

// List implements Store.
func (d *directory) List(ctx context.Context, prefix string, fn func(Object) error) error {
	return fs.WalkDir(d.root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted meanwhile
		case err != nil:
			return explainDisk(err)
		case entry.IsDir():
			if key != "." && !strings.HasPrefix(key, prefix) && !strings.HasPrefix(prefix, key+"/") {
				return fs.SkipDir
			}
			return ctx.Err()
		case strings.HasPrefix(key, "."), !strings.HasPrefix(key, prefix):
			return nil
		}

		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(Object{Key: key, Size: info.Size(), Modified: info.ModTime()})
	})
}

func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}

// explainDisk says that a disk is full in the words that are used for a bucket, too.
func explainDisk(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the storage is full: %w", err)
	}
	return err
}
