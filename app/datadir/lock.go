package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A command that calls IsServed holds the lock for an instant. That must not keep a
// server from starting, so a lock is tried several times.
const (
	lockAttempts = 10
	lockPause    = 20 * time.Millisecond
)

// ErrServed means that the directory cannot be locked because a server runs on it.
var ErrServed = errors.New("a server is running on this data directory")

// errShared means that others hold the shared lock.
var errShared = errors.New("a command such as purge is using this data directory")

// Lock takes the exclusive lock, which a server holds for as long as it runs, and a
// restore. Closing frees it, and so does the system when the process ends, however that
// happens. Its errors say what the user can do.
func (d Dir) Lock() (io.Closer, error) { return d.lock(syscall.LOCK_EX) }

// LockShared keeps servers from starting while a command does work that a server
// would otherwise do. Several commands may hold it at the same time.
func (d Dir) LockShared() (io.Closer, error) { return d.lock(syscall.LOCK_SH) }

func (d Dir) lock(how int) (io.Closer, error) {
	f, err := os.OpenFile(d.File(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
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
		err = d.lastAttempt(f, how)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lastAttempt says what the user can do, which depends on the kind of lock that is in the way:
// a shared one can be joined, an exclusive one cannot.
func (d Dir) lastAttempt(f *os.File, how int) error {
	if flock(f, syscall.LOCK_SH) != nil {
		return fmt.Errorf("%s is in use: %w; stop it first, or choose another directory with --data-dir", string(d), ErrServed)
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
