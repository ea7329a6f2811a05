package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"
)

// upgradingName is the row of Meta with the version at which an unfinished upgrade began, of which there is a
// copy. Each step writes it in its own transaction, and the last removes it.
const upgradingName = "upgrading_from"

// upgradingFrom is the version at which an unfinished upgrade began; 0 without, or without its copy.
func (f Format) upgradingFrom(conn *sqlx.DB, path string) (from int) {
	err := conn.Get(&from, "SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM "+f.Meta+" WHERE name = ?", upgradingName)
	if err != nil || fileSize(upgradeBackup(path, from)) == 0 {
		return 0
	}
	return from
}

func upgradeBackup(path string, version int) string { return fmt.Sprintf("%s.v%d.bak", path, version) }

func (f Format) markUpgrade(step migration) string {
	mark := fmt.Sprintf("INSERT OR REPLACE INTO %s (name, value) VALUES ('%s', CAST('%d' AS BLOB))", f.Meta, upgradingName, step.from)
	if step.last {
		mark = fmt.Sprintf("DELETE FROM %s WHERE name = '%s'", f.Meta, upgradingName)
	}
	return fmt.Sprintf("%s; PRAGMA user_version = %d", mark, step.version)
}

// copyBeforeUpgrade keeps the file as it was, as name.vN.bak.
func copyBeforeUpgrade(conn *sqlx.DB, path string, version int) error {
	backup := upgradeBackup(path, version)
	if err := removeHalfCopies(path); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(backup)+"-*") // no one else may ever read it
	if err != nil {
		return err
	}
	defer removeHalfCopies(path) // with its journal, which stays when the disk is full; the next start tries it again

	_, err = conn.Exec("VACUUM INTO ?", temp.Name())
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), backup)
}

// removeHalfCopies removes what a process left that was killed while it copied. The
// directory is locked, so that no process is writing them.
func removeHalfCopies(path string) error {
	dir := filepath.Dir(path)
	halves, err := fs.Glob(os.DirFS(dir), filepath.Base(path)+".v*.bak-*") // the directory is no part of the pattern
	for _, half := range halves {
		err = errors.Join(err, os.Remove(filepath.Join(dir, half)))
	}
	return err
}
