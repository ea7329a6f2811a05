package jobs

import (
	"context"
	"time"

	"confab/storage"
)

const (
	// importsKept is how long one can be asked for what became of an import.
	importsKept = 30 * 24 * time.Hour
	// importFileGrace is how long a file may lie without its row.
	importFileGrace = 24 * time.Hour
)

// forgetImports deletes imports that ended long ago, and files that no import needs.
func (w *Workers) forgetImports(ctx context.Context, now storage.Time) error {
	err := newBatchWriter(w.DB).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DeleteOldContactImports(now.Add(-importsKept), limit)
	})
	if err != nil {
		return err
	}

	return w.Imports.Sweep(time.Now().Add(-importFileGrace), func(id string) (runs bool, err error) {
		err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
			runs, err = rx.RunningImport(id)
			return err
		})
		return runs, err
	})
}
