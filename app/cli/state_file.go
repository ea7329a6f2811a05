package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readStateFile reads a file that writeStateFile has written, and reports whether
// it exists.
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
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // made with mode 0600
	if err != nil {
		return err
	}

	err = errors.Join(printJSON(temp, v), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}

	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
