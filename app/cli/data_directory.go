package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"confab/storage"
)

// simulatorLock is what a running simulator locks. It also marks the directory as a simulator's.
const simulatorLock = "simulator.lock"

// lockDirectory locks a directory for this process. The system releases the lock
// when the process ends, also by a crash.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, simulatorLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s is in use: a simulator is running on this data directory; "+
			"stop it first, or choose another directory with --data-dir", dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isEmptyDirectory(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("data directory: %w", err)
	}
	return len(entries) == 0, nil
}

// readStateFile reads a file that writeStateFile has written, and reports whether it exists.
func readStateFile(path string, v any) (found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}

	if err == nil {
		err = json.Unmarshal(text, v)
	}

	if err != nil {
		return true, fmt.Errorf("%s: %w: remove the file to get a new one", path, err)
	}
	return true, nil
}

// writeStateFile replaces a JSON file in one step, because other processes may
// read it at any time. It holds secrets: only its owner may read it.
func writeStateFile(path string, v any) error {
	var text bytes.Buffer
	if err := printJSON(&text, v); err != nil {
		return err
	}
	return storage.ReplaceFile(path, text.Bytes())
}
