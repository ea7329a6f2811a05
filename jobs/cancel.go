package jobs

import (
	"errors"

	"confab/storage"
)

// errCancelled is why what waited for a job ended that a person took away.
var errCancelled = errors.New("its job was cancelled")

// Cancel removes a job for good, in whatever state it is, and ends what waits for
// it as if the job were out of attempts: a message would be pending for ever, and
// the event of an inbound file never told.
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
