package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"confab/storage"
)

// EpochFile holds how far the database had come that was last served here, so that an
// older one in its place is noticed. Only a server writes it, which has the lock, and without
// one the commands that change something.
const EpochFile = "epoch"

// KeptProgress reads how far the database had come that was last served here; nil if nothing was kept.
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
var ErrEpochFile = errors.New("the epoch file cannot be read")

// KeepProgress writes how far the database has come.
func (d Dir) KeepProgress(p storage.Progress) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return storage.ReplaceFile(d.File(EpochFile), append(text, '\n'))
}

// CountChanges counts what a command has changed while no server runs, which would do it. A
// database that is not the one that was last served is left to be noticed, and before a server
// has served one nothing is counted.
func (d Dir) CountChanges(ctx context.Context, db *storage.DB) error {
	if db.Changes() == 0 {
		return nil
	}
	if served, err := d.IsServed(); err != nil || served {
		return err
	}
	lock, err := d.LockShared()
	if errors.Is(err, ErrServed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()

	kept, err := d.KeptProgress()
	if kept == nil {
		if errors.Is(err, ErrEpochFile) {
			err = nil // for the next server to notice
		}
		return err
	}

	var p storage.Progress
	isOther := false
	err = db.Update(ctx, func(tx *storage.Tx) (err error) {
		if p, err = tx.Progress(); err != nil {
			return err
		}
		if isOther = p.Differs(kept) != ""; isOther {
			return nil
		}
		p, err = tx.CountCommit()
		return err
	})
	if err != nil || isOther {
		return err
	}
	return d.KeepProgress(p)
}
