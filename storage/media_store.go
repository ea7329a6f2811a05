package storage

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"confab/storage/objects"
	"confab/storage/sqlite"
)

// Media in object storage.
//
// Every file is an object xx/HASH, written before the row that names it commits. The
// directory "copies" beside the files has copies of objects, the latest read first to stay,
// and has a bound: what is in it can be deleted at any time. Files of a time before there was
// object storage lie where they always did, and are read from there, until MoveToStore has
// made objects of them.
//
// An object may only be deleted when nobody is about to name it. Whoever stores the same
// content again writes its object again, which makes it young; DeleteObject leaves young ones
// alone. The lock on a hash keeps the two apart: an object is not deleted between the look at
// its age and a write.

// ErrMediaStore means that the object storage of media is away, or refuses what was asked.
var ErrMediaStore = fmt.Errorf("%w: media storage", ErrUnavailable)

const (
	// copiesDir holds copies of objects.
	copiesDir = "copies"
	// fetchesAtOnce is how many objects are copied at the same time.
	fetchesAtOnce = 16
	// copyTries is how often a copy is made again that was evicted before it was opened.
	copyTries = 3
	// maxObject is more than any file of media has.
	maxObject = 1 << 30
)

type mediaStore struct {
	objects objects.Store
	locks   [4096]sync.Mutex // each for the objects of many hashes
	making  singleflight.Group
	fetches chan struct{} // bounds those at once

	mu       sync.Mutex
	copied   int64 // bytes in copiesDir, or more: what is removed is counted with the next eviction
	maxBytes int64
}

// HasStore reports whether media is in object storage.
func (f *Files) HasStore() bool { return f != nil && f.store != nil }

func copyName(sum string) string  { return path.Join(copiesDir, fileName(sum)) }
func objectKey(sum string) string { return fileName(sum) }

func storeError(err error) error { return fmt.Errorf("%w: %w", ErrMediaStore, err) }

func (u *Upload) keepObject(ctx context.Context, sum string) error {
	s := u.files.store
	defer s.lock(sum)()

	if err := s.objects.Put(ctx, objectKey(sum), u.Reader(), u.size); err != nil {
		return storeError(err)
	}
	if err := u.place(copyName(sum)); err != nil {
		return err
	}
	return u.files.addCopy(u.size)
}

// openCopy opens the copy of an object, which the first who wants it makes.
func (f *Files) openCopy(ctx context.Context, sum string) (*os.File, error) {
	for range copyTries {
		file, err := f.root.Open(copyName(sum))
		if err == nil { // now it is the latest that was read
			now := time.Now()
			_ = f.root.Chtimes(copyName(sum), now, now) // it would only be evicted too early
		}
		if !errors.Is(err, fs.ErrNotExist) || f.store == nil {
			return file, err
		}

		made := f.store.making.DoChan(sum, func() (any, error) { return nil, f.makeCopy(context.WithoutCancel(ctx), sum) })
		select {
		case result := <-made:
			err = result.Err
		case <-ctx.Done():
			err = storeError(ctx.Err())
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, storeError(errors.New("copies of media are evicted before they can be read: media.cache_bytes is too small"))
}

func (f *Files) makeCopy(ctx context.Context, sum string) error {
	f.store.fetches <- struct{}{} // those before have time limits
	defer func() { <-f.store.fetches }()
	if _, err := f.root.Stat(copyName(sum)); err == nil {
		return nil // it was made since it was looked for
	}

	size, err := f.fetch(ctx, sum, copyName(sum))
	if err != nil {
		return err
	}
	return f.addCopy(size)
}

// fetch makes a file of an object, under a name, and checks its hash.
func (f *Files) fetch(ctx context.Context, sum, name string) (size int64, err error) {
	body, _, err := f.store.objects.Get(ctx, objectKey(sum))
	if errors.Is(err, objects.ErrNotFound) {
		return 0, fs.ErrNotExist
	}
	if err != nil {
		return 0, storeError(err)
	}
	defer body.Close()

	up, err := f.Create()
	if err != nil {
		return 0, err
	}
	defer up.Discard()

	_, err = io.Copy(up, io.LimitReader(body, maxObject))
	switch {
	case errors.Is(err, ErrUnavailable): // the disk's
		return 0, err
	case err != nil:
		return 0, storeError(err)
	case hex.EncodeToString(up.sum.Sum(nil)) != sum:
		return 0, storeError(fmt.Errorf("the object %s is damaged: its hash is not its name", objectKey(sum)))
	}
	return up.size, up.place(name)
}

// addCopy counts a new copy, and evicts others if there is no more room.
func (f *Files) addCopy(size int64) error {
	s := f.store
	s.mu.Lock()
	s.copied += size
	full := s.copied > s.maxBytes
	s.mu.Unlock()

	if full {
		return f.evict()
	}
	return nil
}

// evict counts the copies, and deletes those that were not read for the longest time if
// they take more than the bound. A tenth more is made free, so that this is done rarely. The
// latest stays, however large: somebody is about to read it.
func (f *Files) evict() error {
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()

	var all []fs.FileInfo
	s.copied = 0
	err := f.eachIn(copiesDir, func(files []fs.FileInfo) error {
		for _, info := range files {
			s.copied += info.Size()
		}
		all = append(all, files...)
		return nil
	})
	if err != nil || s.copied <= s.maxBytes {
		return sqlite.DiskError(err)
	}

	slices.SortFunc(all, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range all[:len(all)-1] {
		if s.copied <= s.maxBytes-s.maxBytes/10 {
			break
		}
		if err := f.root.Remove(copyName(info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return sqlite.DiskError(err)
		}
		s.copied -= info.Size()
	}
	return nil
}

// EachObject calls fn with each file in object storage, in the order of the hashes.
func (f *Files) EachObject(ctx context.Context, fn func(sum string, size int64, modified time.Time) error) error {
	return EachObject(ctx, f.store.objects, fn)
}

// EachObject is Files.EachObject for a store without the directory of its copies.
func EachObject(ctx context.Context, store objects.Store, fn func(sum string, size int64, modified time.Time) error) error {
	var ours error
	err := store.List(ctx, "", func(o objects.Object) error {
		sum := path.Base(o.Key)
		if !ValidSum(sum) || o.Key != objectKey(sum) {
			return nil // not ours
		}
		ours = fn(sum, o.Size, o.Modified)
		return ours
	})
	if err == nil || ours != nil {
		return ours
	}
	return storeError(err)
}

// DeleteObject deletes an object unless it was written since a time. It reports if it is gone.
func (f *Files) DeleteObject(ctx context.Context, sum string, since time.Time) (gone bool, err error) {
	defer f.store.lock(sum)()

	o, err := f.store.objects.Stat(ctx, objectKey(sum))
	if errors.Is(err, objects.ErrNotFound) {
		return true, nil
	}
	if err == nil && !o.Modified.Before(since) {
		return false, nil
	}

	if err == nil {
		err = f.store.objects.Delete(ctx, objectKey(sum))
	}
	if err != nil {
		return false, storeError(err)
	}
	return true, nil
}

// lock lets one at a time work on the object of a hash.
func (s *mediaStore) lock(sum string) (unlock func()) {
	i, _ := strconv.ParseUint(sum[:3], 16, 12) // a hash is hexadecimal
	s.locks[i].Lock()
	return s.locks[i].Unlock
}
