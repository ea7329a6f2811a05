package simulator

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// tempPattern is the pattern for the name of a file that will replace another.
func tempPattern(path string) string { return "." + filepath.Base(path) + "-*" }

// removeMatches removes the files that a crash left half written.
func removeMatches(dir, pattern string) {
	stale, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, path := range stale {
		os.Remove(path)
	}
}

// writeFile replaces a file as a whole, so that a crash leaves the old one or
// the new one.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return err
	}

	w := bufio.NewWriterSize(f, 256<<10)
	err = errors.Join(fill(w), w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}

	// Without this a crash could still undo the rename.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}
