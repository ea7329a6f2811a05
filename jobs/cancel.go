package jobs

import (
	"errors"

	"confab/storage"
)

// errCancelled is the reason given for what depended on a job that a person
// cancelled.
var errCancelled = errors.New("its job was cancelled")

// Cancel deletes a job in any state, and ends what depends on it as if
// the job were out of attempts. Otherwise a message would stay pending for ever,
// and the event of an inbound file would never be emitted.
func (w *Workers) Cancel(tx *storage.Tx, id int64) error {
	j, err := tx.Job(id)
	if err != nil {
		return err
	}
	if err := tx.CancelJob(id); err != nil {
		return err
	}

	for _, k := range w.Kinds() {
		if k.Name == j.Kind && k.GiveUp != nil {
			return k.GiveUp(j, errCancelled)(tx)
		}
	}
	return nil
}
