package storage

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"confab/storage/sqlite"
)

// MasterKeyFile is the name of the key file in the data directory.
const MasterKeyFile = "master.key"

// DatabaseFile is the path of the database in a data directory.
func DatabaseFile(dir string) string { return filepath.Join(dir, "confab.db") }

// LoadMasterKey returns the key from its variable, else from dir/master.key. It
// makes the file for a directory that has no database yet; with a database it
// refuses, because a new key could not open what the old one sealed. A file that
// is no database of ours is refused as such: its owner has no key to look for.
func LoadMasterKey(dir, variable string) ([]byte, error) {
	key, err := ReadMasterKey(dir, variable)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}

	// There is no key. With a database that is a loss; without one, a new one is made.
	path := filepath.Join(dir, MasterKeyFile)
	if _, missing := os.Stat(DatabaseFile(dir)); !errors.Is(missing, fs.ErrNotExist) {
		// Another process may have made both just now, the key first: look again.
		if key, err := readMasterKey(path); !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := sqlite.InspectHeader(DatabaseFile(dir)); err != nil {
			return nil, err // no key would open it
		}
		return nil, fmt.Errorf("%s is missing, but %s contains data encrypted with it: "+
			"restore the file from a backup, or set CONFAB_MASTER_KEY",
			path, DatabaseFile(dir))
	}

	key = make([]byte, sqlite.MasterKeySize)
	rand.Read(key)
	err = sqlite.WriteFileOnce(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
	switch {
	case errors.Is(err, fs.ErrExist): // another process was first
		return readMasterKey(path)
	case err != nil:
		return nil, sqlite.NotWritable(path, err)
	}
	return key, nil
}

// ReadMasterKey is LoadMasterKey that makes no key.
func ReadMasterKey(dir, variable string) ([]byte, error) {
	if variable != "" {
		return parseMasterKey("CONFAB_MASTER_KEY", variable)
	}
	return readMasterKey(filepath.Join(dir, MasterKeyFile))
}

func readMasterKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the master key: %w: check the owner and mode of the file and its directory", err)
	}
	return parseMasterKey(path, string(text))
}

func parseMasterKey(origin, text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != sqlite.MasterKeySize {
		return nil, fmt.Errorf("%s is not a master key: it must be %d bytes in base64", origin, sqlite.MasterKeySize)
	}
	return key, nil
}

// ReplaceFile writes a private file durably and whole: after a crash there is the old one or the new one.
func ReplaceFile(path string, data []byte) error { return sqlite.ReplaceFile(path, data) }
