package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

// upgradingName is the row of Meta with the version at which an unfinished upgrade began, of which there is a
// copy. Each step writes it in its own transaction, and the last removes it.
const upgradingName = "upgrading_from"

// upgradingFrom is the version at which an unfinished upgrade began; 0 without, or without its copy.
func (f Format) upgradingFrom(conn *sqlx.DB, path string) int {
	var text string
	if err := conn.Get(&text, "SELECT CAST(value AS TEXT) FROM "+f.Meta+" WHERE name = ?", upgradingName); err != nil {
		return 0
	}

	from, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	if _, err := os.Stat(upgradeBackup(path, from)); err != nil {
		return 0
	}
	return from
}

func upgradeBackup(path string, version int) string { return fmt.Sprintf("%s.v%d.bak", path, version) }

func (f Format) markUpgrade(tx *sqlx.Tx, step migration) error {
	query := "INSERT OR REPLACE INTO " + f.Meta + " (name, value) VALUES (?, CAST(? AS BLOB))"
	args := []any{upgradingName, strconv.Itoa(step.from)}
	if step.last {
		query, args = "DELETE FROM "+f.Meta+" WHERE name = ?", args[:1]
	}
	if _, err := tx.Exec(query, args...); err != nil {
		return err
	}

	_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", step.version))
	return err
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
	halves, err := filepath.Glob(escapeGlob(path) + ".v*.bak-*")
	for _, half := range halves {
		err = errors.Join(err, os.Remove(half))
	}
	return err
}

// escapeGlob makes a pattern that matches only the path itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
