// Package datadir is the directory that holds everything of one installation: who may
// work on it at what time, and how a command reaches the server that runs on it. It
// knows nothing of what a server does.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"confab/storage"
)

// Dir is the path of a data directory: the database, the master key, media files,
// certificates, the control socket and the lock.
//
// The lock is flock(2) on serve.lock, which the system frees when a process dies:
//
//   - A server holds it exclusively for as long as it runs, and so does a restore.
//   - A purge that finds no server holds it shared, so that none starts meanwhile, and so
//     does a command while it counts what it has changed.
//   - IsServed tries for an instant to get it shared, and so finds out whether a
//     server runs.
//
// All other commands take no lock. They open the database beside the server, where
// SQLite keeps the two apart, and afterwards send the server a /refresh by SendCommand.
type Dir string

// Names in the directory; storage has those of the database, the master key and the media files.
const (
	CertificateDir = "certificates"   // what was fetched for server.tls_domains
	SandboxFile    = "sandbox.json"   // what a client of a sandbox needs to know
	SimulatorFile  = "simulator.json" // what a client of the simulator needs to know
	SimulatorLock  = "simulator.lock" // what a running simulator locks; it marks the directory as a simulator's

	lockFile   = "serve.lock"
	socketFile = "confab.sock"
)

// Prepare makes the directory if there is none, and makes an empty one private and
// ignored by git. It refuses one that cannot be written.
func (d Dir) Prepare() error {
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
		return d.NotWritable(err)
	}
	if err := os.WriteFile(d.File(".gitignore"), []byte("*\n"), 0o600); err != nil {
		return d.NotWritable(err)
	}
	return nil
}

// Exists reports whether the directory holds a database, or why that is unknown.
func (d Dir) Exists() (bool, error) {
	_, err := os.Stat(storage.DatabaseFile(string(d)))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrPermission):
		const advice = "run this as the user who runs confab (sudo -u USER), or check its owner and mode"
		return false, fmt.Errorf("data directory %s cannot be read: %w: %s", string(d), err, advice)
	}
	return false, nil
}

// RequireEmpty returns an error if the directory holds anything but what Prepare and
// Lock make, and a master key that was put there.
func (d Dir) RequireEmpty() error {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}

	for _, e := range entries {
		if !slices.Contains([]string{".gitignore", "lost+found", lockFile, storage.MasterKeyFile}, e.Name()) {
			return fmt.Errorf("%s is not empty (it contains %s): restore into an empty directory, so that nothing is overwritten",
				string(d), e.Name())
		}
	}
	return nil
}

// File returns the path of a file in the directory.
func (d Dir) File(name string) string { return filepath.Join(string(d), name) }

// NotWritable adds to the error of a write what the user can do about it.
func (d Dir) NotWritable(err error) error {
	return fmt.Errorf("data directory %s cannot be written: %w: check its owner and mode, or choose another with --data-dir",
		string(d), err)
}

// Open opens the database of the directory. served says that another process serves
// it: then a file with an older schema is refused instead of migrated.
func (d Dir) Open(o storage.Options, masterKey string, served bool) (*storage.DB, error) {
	key, err := storage.LoadMasterKey(string(d), masterKey)
	if err != nil {
		return nil, err
	}

	o.Path, o.MasterKey = storage.DatabaseFile(string(d)), key
	o.Served = served
	return storage.Open(o)
}

// OpenForCommand is Open for a command. Its time is the directory's: a sandbox's may have been moved.
func (d Dir) OpenForCommand(o storage.Options, masterKey string, served bool) (*storage.DB, error) {
	clock := &storage.MovableClock{}
	o.Now, o.Readers, o.SkipCheck = clock.Now, 1, true

	db, err := d.Open(o, masterKey, served)
	if err != nil {
		return nil, err
	}
	if err := clock.Restore(context.Background(), db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// A command that calls IsServed holds the lock for an instant. That must not keep a
// server from starting, so a lock is tried several times.
const (
	lockAttempts = 10
	lockPause    = 20 * time.Millisecond
)

// ErrServed means that the directory cannot be locked because a server runs on it.
var ErrServed = errors.New("a server is running on this data directory")

// errSimulator is that for a simulator, and errShared means that others hold the shared lock.
var (
	errSimulator = errors.New("a simulator is running on this data directory")
	errShared    = errors.New("a command such as purge is using this data directory")
)

// Lock takes the exclusive lock, which a server holds for as long as it runs, and a
// restore. Closing frees it, and so does the system when the process ends, however that
// happens. Its errors say what the user can do.
func (d Dir) Lock() (io.Closer, error) { return d.lock(lockFile, syscall.LOCK_EX, ErrServed) }

// LockShared keeps servers from starting while a command does work that a server
// would otherwise do. Several commands may hold it at the same time.
func (d Dir) LockShared() (io.Closer, error) { return d.lock(lockFile, syscall.LOCK_SH, ErrServed) }

// LockSimulator is Lock for a simulator without a server, which has a lock of its own.
func (d Dir) LockSimulator() (io.Closer, error) {
	return d.lock(SimulatorLock, syscall.LOCK_EX, errSimulator)
}

// lock locks a file of the directory. holder says who may have it locked exclusively.
func (d Dir) lock(file string, how int, holder error) (io.Closer, error) {
	f, err := os.OpenFile(d.File(file), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, d.NotWritable(err)
	}

	for range lockAttempts {
		err = flock(f, how)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}

	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = d.lastAttempt(f, how, holder)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lastAttempt says what the user can do, which depends on the kind of lock that is in the way:
// a shared one can be joined, an exclusive one cannot.
func (d Dir) lastAttempt(f *os.File, how int, holder error) error {
	if flock(f, syscall.LOCK_SH) != nil {
		return fmt.Errorf("%s is in use: %w; stop it first, or choose another directory with --data-dir", string(d), holder)
	}
	if flock(f, how) != nil {
		return fmt.Errorf("%s is in use: %w; wait until it is done", string(d), errShared)
	}
	return nil // the holder has left meanwhile
}

// flock tries once to lock a file, or to change the lock that it has. EWOULDBLOCK
// means that the lock of another is in the way.
func flock(f *os.File, how int) error { return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB) }

// IsServed reports whether a server runs on the directory.
func (d Dir) IsServed() (bool, error) {
	f, err := os.OpenFile(d.File(lockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()

	err = flock(f, syscall.LOCK_SH)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
