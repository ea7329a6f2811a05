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

// DataDir is the directory that holds everything of one installation.
type DataDir string

const (
	lockFile   = "serve.lock"
	socketFile = "confab.sock"

	// certificateDir holds the certificates that were fetched.
	certificateDir = "certificates"

	// A command that asks Served has the lock for an instant, which must not
	// keep a server from starting.
	lockTries = 10
	lockPause = 20 * time.Millisecond
)

// Prepare makes the directory if there is none: private, and out of every
// repository's sight. It refuses one that cannot be written.
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
		return nil // in use, perhaps for other things too: leave its mode alone
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return d.notWritable(err)
	}
	if err := os.WriteFile(d.file(".gitignore"), []byte("*\n"), 0o600); err != nil {
		return d.notWritable(err)
	}
	return nil
}

// Exists tells whether the directory holds a database.
func (d DataDir) Exists() bool {
	_, err := os.Stat(storage.DatabaseFile(string(d)))
	return err == nil
}

func (d DataDir) file(name string) string { return filepath.Join(string(d), name) }

func (d DataDir) notWritable(err error) error {
	return fmt.Errorf("data directory %s cannot be written: %w: check its owner and mode, or choose another with --data-dir", string(d), err)
}

// Why a lock on the directory is not to be had.
var (
	errLocked = errors.New("a server runs on this data directory")
	errShared = errors.New("a command such as purge works on this data directory")
)

// lock takes the directory for one serving process. The system frees it when
// the process ends, however that happens.
func (d DataDir) lock() (*os.File, error) { return d.take(syscall.LOCK_EX) }

// share keeps servers away while a command does what only a server or the
// absence of one may do. Other commands may do the same.
func (d DataDir) share() (*os.File, error) { return d.take(syscall.LOCK_SH) }

func (d DataDir) take(how int) (*os.File, error) {
	f, err := os.OpenFile(d.file(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, d.notWritable(err)
	}
	for range lockTries {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}
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

// inUse says what to do about a lock that is not to be had.
func (d DataDir) inUse(err error) error {
	switch {
	case errors.Is(err, errLocked):
		return fmt.Errorf("%s is in use: %w; stop it first, or choose another directory with --data-dir", string(d), err)
	case errors.Is(err, errShared):
		return fmt.Errorf("%s is in use: %w; wait until it is done", string(d), err)
	}
	return err
}

// Served tells whether a server runs on the directory.
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

// Open opens the directory's database. served says that another process serves
// it: then its schema is left as it is, and its content is taken on trust.
func (d DataDir) Open(o storage.Options, masterKey string, served bool) (*storage.DB, error) {
	key, err := storage.LoadMasterKey(string(d), masterKey)
	if err != nil {
		return nil, err
	}
	o.Path, o.MasterKey = storage.DatabaseFile(string(d)), key
	o.KeepVersion = served
	return storage.Open(o)
}
