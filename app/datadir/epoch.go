package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"confab/storage"
)

// EpochFile holds how far the database had come that was last served here, so that an
// older one in its place is noticed. Only a server writes it, which has the lock.
const EpochFile = "epoch"

// KeptProgress reads how far the database had come that was last served here. It is nil
// if nothing was kept.
func (d Dir) KeptProgress() (*storage.Progress, error) {
	text, err := os.ReadFile(d.File(EpochFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	kept := new(storage.Progress)
	if err := json.Unmarshal(text, kept); err != nil || kept.Epoch == "" {
		return nil, fmt.Errorf("%w (%d bytes)", ErrEpochFile, len(text))
	}
	return kept, nil
}

// ErrEpochFile means that the file is unreadable, and has to be written anew.
var ErrEpochFile = errors.New("the file epoch cannot be read")

// KeepProgress writes how far the database has come. After a crash the file is there as it
// was or as it should be, never half.
func (d Dir) KeepProgress(p storage.Progress) (err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}

	temp := d.File(EpochFile + ".new")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, d.File(EpochFile))
}
