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
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"confab/app/datadir"
	"confab/storage"
)

// RestoreOptions say where to restore to, and how.
type RestoreOptions struct {
	Dir        datadir.Dir
	MasterKey  string // CONFAB_MASTER_KEY, if set
	MediaStore string // URL of the object storage of media, if there is one; a replica does not say it
	Progress   func(what string, done int64)
}

// Restored is what came out of a backup.
type Restored struct {
	Manifest
	KeyChecked bool `json:"key_checked"` // there is a master key, and it opens the secrets in the database
}

// errNoBackup means that a file is something else than a backup, or was cut short.
var errNoBackup = errors.New("this is not a confab backup, or it is incomplete")

// Restore unpacks an archive into the directory, which must be empty but for a master.key.
func Restore(ctx context.Context, o RestoreOptions, archive io.Reader) (out Restored, err error) {
	return o.into(func(temp string) (m Manifest, err error) {
		root, err := os.OpenRoot(temp)
		if err != nil {
			return m, err
		}
		defer root.Close()

		u := &unpacker{RestoreOptions: o, ctx: ctx, root: root}
		return u.unpack(tar.NewReader(archive))
	})
}

// RestoreReplica makes the directory out of a database that fetch writes to a file, and says
// of which time it is. Media are not part of it. The key must be there.
func RestoreReplica(o RestoreOptions, fetch func(file string) (asOf storage.Time, err error)) (Restored, error) {
	if _, err := storage.ReadMasterKey(string(o.Dir), o.MasterKey); errors.Is(err, fs.ErrNotExist) {
		return Restored{}, fmt.Errorf("the master key is not part of a replica: put %s into %s, or set CONFAB_MASTER_KEY",
			storage.MasterKeyFile, string(o.Dir))
	}

	return o.into(func(temp string) (m Manifest, err error) {
		file := filepath.Join(temp, archiveDatabase)
		o.Progress("downloading", 0)
		m = Manifest{Object: "replica"}
		if m.CreatedAt, err = fetch(file); err != nil {
			return m, err
		}

		m.Media.Store = o.MediaStore
		facts, err := storage.ReadCopy(file, func(sum string) error {
			if o.MediaStore != "" {
				m.Media.Stored++
			} else {
				m.Media.Missing = append(m.Media.Missing, sum)
			}
			return nil
		})
		m.SchemaVersion, m.Messages, m.Queued = facts.SchemaVersion, facts.Messages, facts.Queued
		return m, err
	})
}

// into makes the directory out of what fill writes into a temporary one.
//
// Everything is verified there; sessions and invitations of people are deleted. Only then it
// is moved into place, the database last, so that a damaged backup or a crash leaves
// no installation that looks whole.
func (o RestoreOptions) into(fill func(temp string) (Manifest, error)) (out Restored, err error) {
	if err := o.Dir.Prepare(); err != nil {
		return out, err
	}

	lock, err := o.Dir.Lock()
	if err != nil {
		return out, err
	}
	defer lock.Close()

	if err := o.Dir.RequireEmpty(); err != nil {
		return out, err
	}

	// A directory within the target, so that the last step is a rename on the same file system.
	temp, err := os.MkdirTemp(string(o.Dir), ".restore-*")
	if err != nil {
		return out, o.Dir.NotWritable(err)
	}
	defer os.RemoveAll(temp)

	if out.Manifest, err = fill(temp); err != nil {
		return out, err
	}

	o.Progress("checking the database", 0)
	if out.KeyChecked, err = o.checkDatabase(temp); err != nil {
		return out, err
	}

	// It is to be served in place of the one that it was.
	for _, change := range []func(path string) error{
		// Those signed in or invited when the backup was made may not be any more.
		storage.ForgetSignIns,
		// Positions given out after the backup was made must not be taken for those that
		// clients have seen before.
		storage.BeginEpoch,
		// Messages that should have been sent since must not go out late, by themselves.
		storage.HoldRestored,
	} {
		if err := change(filepath.Join(temp, archiveDatabase)); err != nil {
			return out, err
		}
	}
	return out, o.moveIntoPlace(temp)
}

type unpacker struct {
	RestoreOptions
	ctx     context.Context
	root    *os.Root
	found   Manifest // what was unpacked
	damaged []string // media files whose hash is not their name
	done    int64
}

// unpack writes every entry and compares them with the manifest, which is the last.
func (u *unpacker) unpack(archive *tar.Reader) (m Manifest, err error) {
	for {
		h, err := archive.Next()
		if err != nil { // io.EOF too: the manifest is missing
			return m, fmt.Errorf("%w (%w)", errNoBackup, err)
		}
		if h.Typeflag != tar.TypeReg {
			return m, fmt.Errorf("%w: %q is not a file", errNoBackup, h.Name)
		}

		switch h.Name {
		case archiveManifest:
			if err := json.NewDecoder(io.LimitReader(archive, maxSmallEntry)).Decode(&m); err != nil {
				return m, fmt.Errorf("%w: manifest: %w", errNoBackup, err)
			}
			return m, u.checkManifest(m)
		case archiveDatabase:
			u.found.Database, err = u.extract(h.Name, archive)
		case archiveKey:
			u.found.Key = true
			_, err = u.extract(h.Name, io.LimitReader(archive, maxSmallEntry))
		default:
			err = u.extractMedia(h.Name, archive)
		}

		if err != nil {
			return m, err
		}
	}
}

// extractMedia writes a media file and checks its hash against its name.
func (u *unpacker) extractMedia(name string, content io.Reader) error {
	sum := path.Base(name)
	if !storage.ValidSum(sum) || name != mediaEntry(sum) {
		return fmt.Errorf("this is not a confab backup: it contains %q", strings.ToValidUTF8(name, "?"))
	}

	file, err := u.extract(name, content)
	if err != nil {
		return err
	}

	if file.SHA256 != sum {
		u.damaged = append(u.damaged, sum)
	}

	u.found.Media.Files++
	u.found.Media.Size += file.Size
	return nil
}

func (u *unpacker) extract(name string, content io.Reader) (File, error) {
	if err := u.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return File{}, u.Dir.NotWritable(err)
	}

	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return File{}, fmt.Errorf("%w: it contains %s twice", errNoBackup, name)
	}
	if err != nil {
		return File{}, u.Dir.NotWritable(err)
	}

	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash, u), content)
	switch err := errors.Join(err, f.Close()); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return File{}, fmt.Errorf("%w: it ends in the middle of %s", errNoBackup, name)
	case err != nil:
		return File{}, fmt.Errorf("unpack %s: %w", name, err)
	}
	return File{Size: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// Write implements io.Writer. It reports progress, and fails once the context has ended.
func (u *unpacker) Write(p []byte) (int, error) {
	u.done += int64(len(p))
	u.Progress("unpacking", u.done)
	return len(p), u.ctx.Err()
}

// checkManifest compares what was unpacked with the manifest. A media file that was
// damaged already when the backup was made is no fault of the backup.
func (u *unpacker) checkManifest(m Manifest) error {
	damaged := slices.ContainsFunc(u.damaged, func(sum string) bool { return !slices.Contains(m.Media.Damaged, sum) })

	switch {
	case m.Format != archiveFormat:
		return fmt.Errorf("the backup has format %d, but this build supports only %d: "+
			"restore it with the release that made it (%s), or a later one", m.Format, archiveFormat, m.Version)
	case u.found.Database != m.Database, u.found.Key != m.Key, damaged,
		u.found.Media.Files != m.Media.Files, u.found.Media.Size != m.Media.Size:
		return fmt.Errorf("the backup is damaged: its contents do not match its manifest; use another one")
	}
	return nil
}

// checkDatabase verifies the whole database, and that the master key belongs to it: the
// key in the variable or in the target directory, or else the one in the archive.
func (o RestoreOptions) checkDatabase(temp string) (keyChecked bool, err error) {
	archived, err := storage.ReadMasterKey(temp, "")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}

	key, err := storage.ReadMasterKey(string(o.Dir), o.MasterKey)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = archived, nil
	}
	if err != nil {
		return false, err
	}

	return key != nil, storage.CheckDatabase(filepath.Join(temp, archiveDatabase), key)
}

// moveIntoPlace moves the verified files to where they belong, the database last:
// without it the directory is no installation.
func (o RestoreOptions) moveIntoPlace(temp string) error {
	unix.Sync() // everything at once is much faster than file by file

	for _, name := range []string{storage.MediaDir, archiveKey, archiveDatabase} {
		from, to := filepath.Join(temp, name), o.Dir.File(name)

		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := os.Lstat(to); err == nil {
			continue // the key that was there already, which checkDatabase tried
		}

		if err := os.Rename(from, to); err != nil {
			return o.Dir.NotWritable(err)
		}
	}

	unix.Sync()
	return nil
}
