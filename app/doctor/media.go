package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"confab/storage"
	"confab/storage/objects"
)

const (
	// orphanAfter is how old a file without a row must be to be reported. A younger
	// one may get its row any moment, or the server's sweep deletes it.
	orphanAfter = 12 * time.Hour
	// storeTime limits the three calls to object storage.
	storeTime = 30 * time.Second
	// maxNamedFiles is how many files a message names.
	maxNamedFiles = 5
)

// checkMediaStore writes, reads and deletes an object in the storage of media, if there is one.
func (e *examination) checkMediaStore(ctx context.Context) {
	c := e.config.Media
	if c.Store == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()

	const advice = "Check media.store, the access key and its rights, and that this machine reaches the storage. " +
		"Until then, files cannot be uploaded, and only copies in the data directory can be read."
	store, err := c.Open()
	if err == nil {
		err = objects.Check(ctx, store)
	}
	if err != nil {
		e.broken("media storage", advice, "%s: %s.", c.Store, errorText(err))
		return
	}
	e.ok("media storage", "An object was written, read and deleted in %s.", c.Store)
}

// storedSizes are the sizes of the files in object storage, by hash; nil if there is none.
func (e *examination) storedSizes(ctx context.Context) (map[string]int64, error) {
	store, err := e.config.Media.Open()
	if err != nil || store == nil {
		return nil, err
	}

	sizes := make(map[string]int64)
	err = storage.EachObject(ctx, store, func(sum string, size int64, _ time.Time) error {
		sizes[sum] = size
		return nil
	})
	return sizes, err
}

func (e *examination) checkMedia(ctx context.Context) {
	stored, err := e.storedSizes(ctx)
	if err != nil {
		e.broken("media", "Fix the object storage first.", "The objects cannot be listed: %s.", errorText(err))
		return
	}

	var missing, wrong []string
	files, ok := query(ctx, e, "media", func(rx *storage.Rx) (files int, err error) {
		err = rx.EachFile(func(sum string, size int64) error {
			files++
			found, exists := stored[sum]
			if info, err := os.Stat(filepath.Join(string(e.dir), storage.MediaDir, sum[:2], sum)); err == nil {
				found, exists = info.Size(), true
			} else if !errors.Is(err, fs.ErrNotExist) {
				return ctx.Err()
			}

			switch {
			case !exists:
				missing = append(missing, sum)
			case found != size:
				wrong = append(wrong, sum)
			}
			return ctx.Err()
		})
		return files, err
	})
	if !ok {
		return
	}

	const advice = "Restore them from a backup: they are media/XX/HASH in the archive and in the data directory."
	if len(missing) > 0 {
		e.broken("media", advice, "%d of %s missing: %s.", len(missing), count(files, "file", "files"), firstFew(missing))
	}
	if len(wrong) > 0 {
		e.broken("media", advice, "%s the wrong size: %s.", count(len(wrong), "file has", "files have"), firstFew(wrong))
	}

	orphans, err := e.findOrphans(ctx)
	switch {
	case err != nil:
		e.warn("media", "Check the owner and mode of the media directory.", "The files cannot be listed: %v.", err)
	case len(orphans) > 0:
		e.warn("media", "The server removes them every 6 hours; if they stay while it is running, look for media.remove_unused in its log.",
			"%s not in the database: %s.", count(len(orphans), "file is", "files are"), firstFew(orphans))
	case len(missing)+len(wrong) == 0:
		e.ok("media", "%s in place.", count(files, "file", "files"))
	}
}

func (e *examination) findOrphans(ctx context.Context) (all []string, err error) {
	root := filepath.Join(string(e.dir), storage.MediaDir)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no media yet, or taken away meanwhile
		}
		if err != nil || entry.IsDir() || !storage.ValidSum(entry.Name()) {
			return err
		}

		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < orphanAfter {
			return nil
		}

		used, err := storage.Query(ctx, e.db, func(rx *storage.Rx) (bool, error) { return rx.MediaUses(entry.Name()) })
		if err == nil && !used {
			all = append(all, entry.Name())
		}
		return err
	})
	return all, err
}

// firstFew lists the first few hashes, shortened, and says how many more there are.
func firstFew(sums []string) string {
	var named []string
	for _, sum := range sums[:min(len(sums), maxNamedFiles)] {
		named = append(named, sum[:12]+"…")
	}

	text := strings.Join(named, ", ")
	if more := len(sums) - maxNamedFiles; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
