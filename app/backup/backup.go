// Package backup writes everything of a data directory into one archive, and makes a data
// directory out of such an archive.
//
// An archive is a tar file: confab.db, master.key unless it was left out, media/xx/HASH for each
// media file, and last the manifest. An archive without a manifest was cut short. Every part can be
// verified: the manifest has the hash of the database, and the name of a media file is its hash.
// Media in object storage is not in an archive: the manifest says where it is.
package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"confab/app/datadir"
	"confab/storage"
)

// The names in an archive.
const (
	archiveFormat   = 1
	archiveDatabase = "confab.db"
	archiveKey      = storage.MasterKeyFile
	archiveMedia    = storage.MediaDir + "/"
	archiveManifest = "manifest.json"

	// maxSmallEntry limits the key and the manifest. It leaves room because a
	// manifest lists every media file that is missing or damaged.
	maxSmallEntry = 64 << 20
)

// Manifest describes the content of a backup.
type Manifest struct {
	Object        string       `json:"object"`
	Format        int          `json:"format"`
	CreatedAt     storage.Time `json:"created_at"` // everything acknowledged before this is in it
	Version       string       `json:"version"`    // of the confab that made it
	SchemaVersion int          `json:"schema_version"`
	Messages      int64        `json:"messages"`
	Queued        int64        `json:"queued"` // messages that were still to be sent
	Database      File         `json:"database"`
	Media         Media        `json:"media"`
	Key           bool         `json:"key"` // master.key is in it
}

// File is the size and hash that a file of the archive must have.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Media sums up the files of media.
type Media struct {
	Files   int64    `json:"files"`
	Size    int64    `json:"size"`
	Missing []string `json:"missing,omitempty"` // named by the database, but not on disk
	Damaged []string `json:"damaged,omitempty"` // on disk, but their hash is not their name

	Store  string `json:"store,omitempty"`  // URL of the object storage that has those that are not in the archive
	Stored int64  `json:"stored,omitempty"` // how many those are
}

func mediaEntry(sum string) string { return archiveMedia + sum[:2] + "/" + sum }

// Options say what to back up, and how.
type Options struct {
	Dir        datadir.Dir
	Temp       string // directory for a copy of the database while it is made
	WithoutKey bool
	MediaStore string // URL of the object storage of media, if there is one; what is there is not copied
	Version    string
	Progress   func(what string, done, total int64)
}

// Write writes an archive of the directory to w, whether or not a server runs on
// it. It copies the database first, and then the media files that the copy names.
// Media files never change; one that is gone by then was deleted on purpose.
func Write(ctx context.Context, o Options, w io.Writer) (Manifest, error) {
	m := Manifest{Object: "backup", Format: archiveFormat, CreatedAt: storage.Now(), Version: o.Version}
	switch exists, err := o.Dir.Exists(); {
	case err != nil:
		return m, err
	case !exists:
		return m, fmt.Errorf("there is no confab database in %s: check --data-dir", string(o.Dir))
	}

	// The copy may be as large as the database, so it is made where the caller
	// has room, not in the system's temporary directory.
	temp, err := os.MkdirTemp(o.Temp, ".confab-backup-*") // made with mode 0700
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(temp)

	copyPath := filepath.Join(temp, archiveDatabase)
	if err := os.WriteFile(copyPath, nil, 0o600); err != nil {
		return m, err
	}
	progress := func(done, total int64) { o.Progress("copying the database", done, total) }
	err = storage.CopyDatabase(ctx, storage.DatabaseFile(string(o.Dir)), copyPath, progress)
	if err != nil {
		return m, fmt.Errorf("copy the database: %w", err)
	}

	facts, err := storage.ReadCopy(copyPath, nil)
	if err != nil {
		return m, fmt.Errorf("read the copy: %w", err)
	}
	m.SchemaVersion, m.Messages, m.Queued = facts.SchemaVersion, facts.Messages, facts.Queued
	if m.Media.Store = o.MediaStore; m.Media.Store != "" {
		facts.FileBytes = 0 // most of them are not written
	}

	a := &archiver{Options: o, ctx: ctx, tar: tar.NewWriter(w), manifest: &m, total: facts.FileBytes}
	if err := a.write(copyPath); err != nil {
		return m, err
	}
	return m, a.tar.Close()
}

type archiver struct {
	Options
	ctx         context.Context
	tar         *tar.Writer
	manifest    *Manifest
	done, total int64
}

// write writes all entries: the database, the key, the media files, the manifest.
func (a *archiver) write(copyPath string) error {
	info, err := os.Stat(copyPath)
	if err != nil {
		return err
	}

	a.total += info.Size()
	if a.manifest.Database, err = a.add(archiveDatabase, copyPath); err != nil {
		return err
	}

	if !a.WithoutKey { // there may be none: the key may be in a variable instead
		_, err := a.add(archiveKey, a.Dir.File(storage.MasterKeyFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		a.manifest.Key = err == nil
	}

	// The list of files is read from the copy, so that it fits the database in
	// the archive even if the original changes meanwhile.
	if _, err = storage.ReadCopy(copyPath, a.addMedia); err != nil {
		return err
	}

	text, err := json.MarshalIndent(a.manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := a.tar.WriteHeader(a.header(archiveManifest, int64(len(text)))); err != nil {
		return err
	}
	_, err = a.tar.Write(text)
	return err
}

// addMedia adds a media file. One that is missing or damaged is listed in the
// manifest and does not stop the backup.
func (a *archiver) addMedia(sum string) error {
	added, err := a.add(mediaEntry(sum), a.Dir.File(mediaEntry(sum)))

	m := &a.manifest.Media
	switch {
	case errors.Is(err, fs.ErrNotExist) && m.Store != "":
		m.Stored++
		return nil
	case errors.Is(err, fs.ErrNotExist):
		m.Missing = append(m.Missing, sum)
		return nil
	case err == nil && added.SHA256 != sum:
		m.Damaged = append(m.Damaged, sum)
	}

	m.Files++
	m.Size += added.Size
	return err
}

// add adds a file under a name and returns its size and hash.
func (a *archiver) add(name, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if err := a.tar.WriteHeader(a.header(name, info.Size())); err != nil {
		return File{}, err
	}

	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, hash, a), f)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s changed while it was read", path)
	}
	return File{Size: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

func (a *archiver) header(name string, size int64) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Size:     size,
		Mode:     0o600,
		ModTime:  a.manifest.CreatedAt.Std(),
		Format:   tar.FormatPAX,
	}
}

// Write implements io.Writer. It reports progress, and fails once the context has ended.
func (a *archiver) Write(p []byte) (int, error) {
	a.done += int64(len(p))
	a.Progress("writing", a.done, a.total)
	return len(p), a.ctx.Err()
}
