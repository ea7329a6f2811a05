package jobs

import (
	"context"
	"encoding/json"
	"time"

	"confab/jobs/contactsheet"
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

	return w.Imports.Sweep(time.Now().Add(-importFileGrace), func(id string) (bool, error) {
		return storage.Query(ctx, w.DB, func(rx *storage.Rx) (bool, error) { return rx.RunningImport(id) })
	})
}

// fail ends an import that cannot go on.
func (m *contactImport) fail(ctx context.Context, why string) error {
	return m.DB.Update(ctx, func(tx *storage.Tx) error { return failImport(tx, m.state, 1, why) })
}

// failImport records that an import has ended at a line, and why.
func failImport(tx *storage.Tx, state storage.ContactImport, line int64, why string) error {
	problems, err := json.Marshal([]contactsheet.Problem{{Line: line, Param: "file", Message: why}})
	if err != nil {
		return err
	}
	state.Status, state.Errors = storage.ImportFailed, problems
	return tx.UpdateContactImport(state)
}

// giveUpImport ends an import whose job failed for good, or was cancelled by a person: without it
// nothing would go on, and clients that wait for it must learn of that.
func giveUpImport(tx *storage.Tx, args contactImportArgs, _ error) error {
	state, err := tx.ContactImport(args.Account, args.Import)
	if err != nil || state.Status != storage.ImportRunning {
		return storage.IgnoreNotFound(err)
	}

	const why = "The import stopped. What was imported stays; import the file again to continue."
	return failImport(tx, state, state.Line, why)
}
