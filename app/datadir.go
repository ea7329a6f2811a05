package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"confab/storage"
)

// DataDir is the directory that holds everything of one installation: the database, the
// master key, media files, certificates, the control socket and the lock.
//
// The lock is flock(2) on serve.lock, which the system frees when a process dies:
//
//   - A server holds it exclusively for as long as it runs, and so does a restore.
//   - A purge that finds no server holds it shared, so that none starts meanwhile.
//   - Served tries for an instant to get it shared, and so finds out whether a server
//     runs.
//
// All other commands take no lock. They open the database beside the server, where
// SQLite keeps the two apart, and afterwards send the server a /refresh by Tell.
type DataDir string

const (
	lockFile   = "serve.lock"
	socketFile = "confab.sock"

	// certificateDir holds the certificates that were fetched.
	certificateDir = "certificates"

	// A command that calls Served holds the lock for an instant. That must not
	// keep a server from starting, so a lock is tried several times.
	lockAttempts = 10
	lockPause    = 20 * time.Millisecond
)

// Prepare makes the directory if there is none, and makes an empty one private and
// ignored by git. It refuses one that cannot be written.
func (d DataDir) Prepare() error {
	_, err := os.Stat(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(string(d), 0o700)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}

	entries, err := os.ReadDir(string(d))
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != "lost+found" }) {
		return nil // in use, perhaps for other things too: its mode stays as it is
	}

	if err := os.Chmod(string(d), 0o700); err != nil {
		return d.notWritable(err)
	}
	if err := os.WriteFile(d.file(".gitignore"), []byte("*\n"), 0o600); err != nil {
		return d.notWritable(err)
	}
	return nil
}

// Exists reports whether the directory holds a database.
func (d DataDir) Exists() bool {
	_, err := os.Stat(storage.DatabaseFile(string(d)))
	return err == nil
}

func (d DataDir) file(name string) string { return filepath.Join(string(d), name) }

func (d DataDir) notWritable(err error) error {
	return fmt.Errorf("data directory %s cannot be written: %w: check its owner and mode, or choose another with --data-dir",
		string(d), err)
}

// Why the directory cannot be locked.
var (
	errLocked = errors.New("a server runs on this data directory")
	errShared = errors.New("a command such as purge works on this data directory")
)

// lock takes the exclusive lock of the directory, which a server holds for as long
// as it runs, and a restore. The system frees it when the process ends, however
// that happens.
func (d DataDir) lock() (*os.File, error) { return d.flock(syscall.LOCK_EX) }

// lockShared keeps servers from starting while a command does work that a server
// would otherwise do. Several commands may hold it at the same time.
func (d DataDir) lockShared() (*os.File, error) { return d.flock(syscall.LOCK_SH) }

func (d DataDir) flock(how int) (*os.File, error) {
	f, err := os.OpenFile(d.file(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, d.notWritable(err)
	}

	for range lockAttempts {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}

	// Which kind of lock is in the way decides what the user is told: a shared
	// one can be joined, an exclusive one cannot.
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
			err = errShared
		}
	}

	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockError adds to an error of lock what the user can do about it.
func (d DataDir) lockError(err error) error {
	switch {
	case errors.Is(err, errLocked):
		return fmt.Errorf("%s is in use: %w; stop it first, or choose another directory with --data-dir", string(d), err)
	case errors.Is(err, errShared):
		return fmt.Errorf("%s is in use: %w; wait until it is done", string(d), err)
	}
	return err
}

// Served reports whether a server runs on the directory.
func (d DataDir) Served() (bool, error) {
	f, err := os.OpenFile(d.file(lockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}

	defer f.Close()

	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Open opens the database of the directory. served says that another process serves
// it: then a file with an older schema is refused instead of migrated.
func (d DataDir) Open(o storage.Options, masterKey string, served bool) (*storage.DB, error) {
	key, err := storage.LoadMasterKey(string(d), masterKey)
	if err != nil {
		return nil, err
	}

	o.Path, o.MasterKey = storage.DatabaseFile(string(d)), key
	o.KeepVersion = served
	return storage.Open(o)
}
