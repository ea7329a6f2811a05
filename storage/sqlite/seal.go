package sqlite

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"
)

// MasterKeySize is the length of the key that seals secrets.
const MasterKeySize = 32

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
	return &sealer{master: master, aead: aead}, err
}

// Seal encrypts a secret for the purpose named. A secret sealed for one purpose
// cannot be opened for another, so rows cannot be swapped.
func (db *DB) Seal(purpose string, secret []byte) []byte {
	return db.seal.aead.Seal(nil, nil, secret, []byte(purpose))
}

// ErrSealed means that sealed data cannot be read.
var ErrSealed = errors.New("the data was changed or sealed with another master key")

// Unseal decrypts what Seal made for the same purpose.
func (db *DB) Unseal(purpose string, sealed []byte) ([]byte, error) {
	secret, err := db.seal.aead.Open(nil, nil, sealed, []byte(purpose))
	if err != nil {
		return nil, fmt.Errorf("unseal %s: %w", purpose, ErrSealed)
	}
	return secret, nil
}

// DeriveKey makes a key for one use out of the master key, the same at each start.
func (db *DB) DeriveKey(use string) []byte { return DeriveKey(db.seal.master, use) }

func DeriveKey(secret []byte, use string) []byte {
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
var ErrMasterKey = errors.New("the master key does not match this database")

// keyCheck is stored in a new file, to recognize its key by.
func (s *sealer) keyCheck() []byte {
	return s.aead.Seal(nil, nil, []byte(keyCheckText), []byte(keyCheckName))
}

// checkMasterKey compares the key with the value sealed when the file was made.
func (f Format) checkMasterKey(conn *sqlx.DB, o Options, seal *sealer) error {
	var sealed []byte
	if err := conn.Get(&sealed, "SELECT value FROM "+f.Meta+" WHERE name = ?", keyCheckName); err != nil {
		return fmt.Errorf("%s is incomplete: it has no check value for the master key (%w): %s", o.Path, err, adviceRestore)
	}

	if text, err := seal.aead.Open(nil, nil, sealed, []byte(keyCheckName)); err != nil || string(text) != keyCheckText {
		return fmt.Errorf("%w: %s was created with another one; "+
			"restore the original master.key (or CONFAB_MASTER_KEY), it is in your backups",
			ErrMasterKey, o.Path)
	}
	return nil
}

// WriteFileOnce writes a private file durably and whole; it never replaces one.
func WriteFileOnce(path string, data []byte) error { return writeFile(path, data, putInPlace) }

// ReplaceFile writes a private file durably and whole: after a crash there is the old one or the new one.
func ReplaceFile(path string, data []byte) error { return writeFile(path, data, os.Rename) }

func writeFile(path string, data []byte, place func(temp, path string) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())

	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return place(temp.Name(), path)
}

// putInPlace gives a finished file its name, durably and never instead of another.
func putInPlace(temp, path string) error {
	if err := os.Link(temp, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}
