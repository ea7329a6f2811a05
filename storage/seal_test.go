package storage_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestSealedSecretOpensOnlyForItsPurpose(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	secret := []byte("whsec_topsecret")
	sealed := db.Seal("signing secret", secret)
	is.True(!bytes.Contains(sealed, secret))
	is.True(!bytes.Equal(sealed, db.Seal("signing secret", secret))) // equal secrets do not look equal

	got, err := db.Unseal("signing secret", sealed)
	is.NoErr(err)
	is.Equal(got, secret)
	_, err = db.Unseal("access token", sealed)
	is.True(err != nil)
	is.True(!strings.Contains(err.Error(), "topsecret"))

	empty, err := db.Unseal("pin", db.Seal("pin", nil))
	is.NoErr(err)
	is.Equal(len(empty), 0)
}

func TestSealedSecretThatWasChangedIsRefused(t *testing.T) {
	db := open(t, newFile(t))
	sealed := db.Seal("pin", []byte("123456"))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := db.Unseal("pin", changed); err == nil {
			t.Errorf("byte %d was changed unnoticed", i)
		}
	}
	for n := range sealed {
		if _, err := db.Unseal("pin", sealed[:n]); err == nil {
			t.Errorf("it was cut to %d bytes unnoticed", n)
		}
	}
}

func TestSealedSecretOpensAfterARestartAndWithNoOtherKey(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db, err := storage.Open(o)
	is.NoErr(err)
	sealed := db.Seal("pin", []byte("123456"))
	is.NoErr(db.Close())
	got, err := open(t, o).Unseal("pin", sealed)
	is.NoErr(err)
	is.Equal(string(got), "123456")
	_, err = storagetest.Open(t).Unseal("pin", sealed)
	is.True(err != nil)
}

func TestSealedAnswerCannotBeReadInTheFile(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db, err := storage.Open(o)
	is.NoErr(err)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return errors.Join(
			tx.SaveIdempotentReply(1, "k1", storage.IdempotentReply{Fingerprint: []byte{1}, Body: []byte("whsec_hidden"), Sealed: true}),
			tx.SaveIdempotentReply(1, "k2", storage.IdempotentReply{Fingerprint: []byte{1}, Body: []byte("plain to see")}))
	})
	storagetest.View(t, db, func(rx *storage.Rx) error {
		a, err := rx.IdempotentReply(1, "k1")
		is.Equal(string(a.Body), "whsec_hidden")
		return err
	})
	log, err := os.ReadFile(o.Path + "-wal")
	is.NoErr(err)
	is.NoErr(db.Close())
	file, err := os.ReadFile(o.Path)
	is.NoErr(err)
	for _, b := range [][]byte{log, file} {
		is.True(!bytes.Contains(b, []byte("hidden")))
		is.True(bytes.Contains(b, []byte("plain to see"))) // we look in the right place
	}
}

func TestDerivedKeysAreStableAndDistinct(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db := open(t, o)
	cursors := db.DeriveKey("cursors")
	is.Equal(len(cursors), 32)
	is.True(!bytes.Equal(cursors, db.DeriveKey("sessions")))
	is.True(!bytes.Equal(cursors, o.MasterKey))
	is.True(!bytes.Equal(cursors, storagetest.Open(t).DeriveKey("cursors")))
	is.NoErr(db.Close())
	is.Equal(open(t, o).DeriveKey("cursors"), cursors)
}

func TestMasterKeyIsMadeOnceAndPrivate(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	made, err := storage.LoadMasterKey(dir, "")
	is.NoErr(err)
	is.Equal(len(made), storage.MasterKeySize)
	again, err := storage.LoadMasterKey(dir, "")
	is.NoErr(err)
	is.Equal(again, made)
	info, err := os.Stat(filepath.Join(dir, storage.MasterKeyFile))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	entries, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(entries), 1)
}

func TestMasterKeyMayComeFromAVariable(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	key := bytes.Repeat([]byte{7}, storage.MasterKeySize)
	got, err := storage.LoadMasterKey(dir, base64.StdEncoding.EncodeToString(key)+"\n")
	is.NoErr(err)
	is.Equal(got, key)
	is.Equal(len(snapshot(t, dir)), 0) // then there is no file
}

func TestMasterKeyThatIsMissingIsNotMadeAnew(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	dir := filepath.Dir(o.Path)
	is.NoErr(os.Remove(filepath.Join(dir, storage.MasterKeyFile)))
	before := snapshot(t, dir)
	_, err := storage.LoadMasterKey(dir, "")
	is.True(err != nil)
	for _, says := range []string{storage.MasterKeyFile + " is missing", o.Path, "restore the file from a backup", "CONFAB_MASTER_KEY"} {
		is.True(strings.Contains(err.Error(), says))
	}
	is.Equal(snapshot(t, dir), before)
}

func TestMasterKeyThatDoesNotFitIsRefused(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.MasterKey = bytes.Repeat([]byte{7}, storage.MasterKeySize)
	refused(t, o, "the master key does not match", "restore the original master.key", "CONFAB_MASTER_KEY")
	_, err := storage.Open(o)
	is.True(errors.Is(err, storage.ErrMasterKey))
	upgrade(t, newFile(t)) // the right one still does

	o = crashed(t, insertFew)
	o.MasterKey = bytes.Repeat([]byte{7}, storage.MasterKeySize)
	refused(t, o, "the master key does not match") // and the log stays as it is
}

func TestMasterKeyThatIsNoneIsRefused(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, storage.MasterKeySize))
	for name, text := range map[string]string{
		"empty": "", "too short": key[:40], "too long": key + key, "not base64": strings.Repeat("!", 44), "garbled": "x" + key,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), []byte(text), 0o600))
			before := snapshot(t, dir)
			_, err := storage.LoadMasterKey(dir, "")
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), "master.key is not a master key: it must be 32 bytes in base64"))
			is.Equal(snapshot(t, dir), before)
			if text == "" {
				return // an empty variable is none
			}
			_, err = storage.LoadMasterKey(t.TempDir(), text)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), "CONFAB_MASTER_KEY is not a master key"))
			is.True(!strings.Contains(err.Error(), text)) // it may be somebody's secret
		})
	}
}

func TestMasterKeyOfAnotherLengthOpensNothing(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.MasterKey = o.MasterKey[:16]
	_, err := storage.Open(o)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "must have 32 bytes, not 16"))
}
