package storage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"
)

// MasterKeySize is the length of the key that seals secrets.
const MasterKeySize = 32

// MasterKeyFile is the name of the key file in the data directory.
const MasterKeyFile = "master.key"

// sealer encrypts what must not be readable in the file.
type sealer struct {
	master []byte
	aead   cipher.AEAD
}

func newSealer(master []byte) (*sealer, error) {
	if len(master) != MasterKeySize {
		return nil, fmt.Errorf("the master key must have %d bytes, not %d", MasterKeySize, len(master))
	}

	block, err := aes.NewCipher(master)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{master: master, aead: aead}, nil
}

// Seal encrypts a secret for the purpose named. What was sealed for one purpose
// cannot be opened for another, so rows cannot be swapped.
func (db *DB) Seal(purpose string, secret []byte) []byte {
	return db.seal.aead.Seal(nil, nil, secret, []byte(purpose))
}

// Unseal decrypts what Seal made for the same purpose.
func (db *DB) Unseal(purpose string, sealed []byte) ([]byte, error) {
	secret, err := db.seal.aead.Open(nil, nil, sealed, []byte(purpose))
	if err != nil {
		return nil, fmt.Errorf("unseal %s: the data was changed or sealed with another master key", purpose)
	}
	return secret, nil
}

// DeriveKey makes a key for one use out of the master key, the same at each start.
func (db *DB) DeriveKey(use string) []byte { return deriveKey(db.seal.master, use) }

func deriveKey(secret []byte, use string) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, use, 32)
	if err != nil {
		panic("derive key: " + err.Error()) // only for lengths that SHA-256 cannot give
	}
	return key
}

const (
	keyCheckName = "master_key_check"
	keyCheckText = "confab"
)

// ErrMasterKey means that the file was sealed with another key than the one given.
var ErrMasterKey = errors.New("the master key does not fit this database")

// keyCheck is stored in a new file, to recognize its key by.
func (s *sealer) keyCheck() []byte {
	return s.aead.Seal(nil, nil, []byte(keyCheckText), []byte(keyCheckName))
}

// checkMasterKey compares the key with the value sealed when the file was made.
func checkMasterKey(conn *sqlx.DB, o Options, seal *sealer) error {
	var sealed []byte
	if err := conn.Get(&sealed, `SELECT value FROM meta WHERE name = ?`, keyCheckName); err != nil {
		return fmt.Errorf("%s is incomplete: it has no check value for the master key (%w): %s", o.Path, err, adviceRestore)
	}

	if text, err := seal.aead.Open(nil, nil, sealed, []byte(keyCheckName)); err != nil || string(text) != keyCheckText {
		return fmt.Errorf("%w: %s was made with another one; restore the original %s (or CONFAB_MASTER_KEY), it is in your backups",
			ErrMasterKey, o.Path, MasterKeyFile)
	}
	return nil
}

// LoadMasterKey returns the key from its variable, else from dir/master.key. It
// makes the file for a directory that has no database yet; with a database it
// refuses, because a new key could not open what the old one sealed. A file that
// is no database of ours is refused as such: its owner has no key to look for.
func LoadMasterKey(dir, variable string) ([]byte, error) {
	if variable != "" {
		return parseMasterKey("CONFAB_MASTER_KEY", variable)
	}

	path := filepath.Join(dir, MasterKeyFile)
	key, err := readMasterKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}

	// There is no key. With a database that is a loss; without one, a new key is
	// made.
	if _, missing := os.Stat(DatabaseFile(dir)); !errors.Is(missing, fs.ErrNotExist) {
		// Another process may have made both just now, the key first: look again.
		if key, err := readMasterKey(path); !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := inspectHeader(DatabaseFile(dir)); err != nil {
			return nil, err // no key would open it
		}
		return nil, fmt.Errorf("%s is missing, but %s holds data sealed with it: put the file back from a backup, or set CONFAB_MASTER_KEY",
			path, DatabaseFile(dir))
	}

	key = make([]byte, MasterKeySize)
	rand.Read(key)
	err = writeFileOnce(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
	switch {
	case errors.Is(err, fs.ErrExist): // another process was first
		return readMasterKey(path)
	case err != nil:
		return nil, notWritable(path, err)
	}
	return key, nil
}

// ReadMasterKey returns the key from its variable, else from dir/master.key, and
// makes none.
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
	if err != nil || len(key) != MasterKeySize {
		return nil, fmt.Errorf("%s is not a master key: it must be %d bytes in base64", origin, MasterKeySize)
	}
	return key, nil
}

// writeFileOnce writes a private file durably and whole; it never replaces one.
func writeFileOnce(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())

	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return putInPlace(temp.Name(), path)
}

// putInPlace gives a finished file its name, durably and never instead of another.
func putInPlace(temp, path string) error {
	if err := os.Link(temp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
