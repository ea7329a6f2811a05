package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// States of imports of contacts.
const (
	ImportRunning   = "running"
	ImportCompleted = "completed"
	ImportFailed    = "failed"
)

// ContactImport is a file of contacts that is taken in, and how far that is.
type ContactImport struct {
	ID        string  `db:"id" json:"id"`
	AccountID int64   `db:"account_id" json:"-"`
	Status    string  `db:"status" json:"status"`
	DryRun    bool    `db:"dry_run" json:"dry_run"`
	LabelID   *string `db:"label_id" json:"label_id"` // every contact of the file gets it
	Offset    int64   `db:"offset" json:"-"`          // in the file, of what comes next
	Line      int64   `db:"line" json:"-"`            // the number of the last one that was read
	Lines     int64   `db:"lines" json:"lines"`
	Created   int64   `db:"created" json:"created"`
	Updated   int64   `db:"updated" json:"updated"`
	Unchanged int64   `db:"unchanged" json:"unchanged"`
	Failed    int64   `db:"failed" json:"failed"`
	Errors    JSON    `db:"errors" json:"errors"`
	CreatedAt Time    `db:"created_at" json:"created_at"`
	UpdatedAt Time    `db:"updated_at" json:"updated_at"`
}

const importColumns = `id, account_id, status, dry_run, label_id, "offset", line, lines, created, updated, unchanged, failed, errors,
	created_at, updated_at`

// ContactImport finds an import of an account.
func (rx *Rx) ContactImport(account int64, id string) (ContactImport, error) {
	return get[ContactImport](rx, `SELECT `+importColumns+` FROM contact_imports WHERE id = ? AND account_id = ?`, id, account)
}

// InsertContactImport stores a new import, whose id is given: its file has that name.
func (tx *Tx) InsertContactImport(i *ContactImport) error {
	i.Status, i.Errors, i.CreatedAt, i.UpdatedAt = ImportRunning, JSON(`[]`), tx.Order, tx.Order
	const given = "id, account_id, status, dry_run, label_id, offset, line, errors, created_at, updated_at"
	return tx.InsertRow("contact_imports", given, i)
}

// UpdateContactImport stores how far an import is.
func (tx *Tx) UpdateContactImport(i ContactImport) error {
	i.UpdatedAt = tx.Order
	const changeable = "status, offset, line, lines, created, updated, unchanged, failed, errors, updated_at"
	return tx.UpdateRow("contact_imports", changeable, "id, account_id", i)
}

// DeleteOldContactImports deletes up to limit imports that ended before a time.
func (tx *Tx) DeleteOldContactImports(before Time, limit int) (int64, error) {
	return tx.deleteSome("contact_imports", "id", "updated_at < ? AND status <> 'running' ORDER BY id", before, limit)
}

// RunningImport reports whether an import runs.
func (rx *Rx) RunningImport(id string) (runs bool, err error) {
	return get[bool](rx, `SELECT EXISTS (SELECT 1 FROM contact_imports WHERE id = ? AND status = 'running')`, id)
}

// TeamLabels are the labels of a team by their names, without regard to case.
func (rx *Rx) TeamLabels(team int64) (map[string]string, error) {
	all, err := list[Label](rx, selectLabels+`WHERE l.team_id = ? AND l.deleted_at = 0`, team)
	ids := make(map[string]string, len(all))
	for _, l := range all {
		ids[Fold(l.Name)] = l.ID
	}
	return ids, err
}

// ImportsDir is the directory, in the data directory, of the files that are being imported.
const ImportsDir = "imports"

// ImportFiles keeps the files of imports by their ids. Commands may add some beside a server.
type ImportFiles struct{ dir string }

// OpenImportFiles makes the directory if there is none.
func OpenImportFiles(dir string) (ImportFiles, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ImportFiles{}, sqlite.NotWritable(dir, err)
	}
	return ImportFiles{dir}, nil
}

func (f ImportFiles) path(id string) string { return filepath.Join(f.dir, id+".csv") }

// Save stores a file durably. One that could not be stored whole is not there.
func (f ImportFiles) Save(id string, in io.Reader) (err error) {
	file, err := os.OpenFile(f.path(id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sqlite.DiskError(err)
	}

	_, err = io.Copy(file, in)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return sqlite.DiskError(errors.Join(err, f.Remove(id)))
	}
	return nil
}

// Open opens a file.
func (f ImportFiles) Open(id string) (*os.File, error) { return os.Open(f.path(id)) }

// Remove removes a file, if it is there.
func (f ImportFiles) Remove(id string) error {
	if err := os.Remove(f.path(id)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep removes files that were stored before a time and that are not needed.
func (f ImportFiles) Sweep(before time.Time, needed func(id string) (bool, error)) error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("files of imports: %w", err)
	}

	for _, entry := range entries {
		id := strings.TrimSuffix(entry.Name(), ".csv")
		info, err := entry.Info()
		if err != nil || !ValidID(PrefixImport, id) || info.ModTime().After(before) {
			continue
		}
		is, err := needed(id)
		if err == nil && !is {
			err = f.Remove(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
