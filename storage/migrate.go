package storage

import (
	"embed"
	"io/fs"

	"confab/storage/sqlite"
)

// SchemaVersion is what schema.sql describes; PRAGMA user_version holds a file's.
const SchemaVersion = 14

//go:embed migrations
var migrationFiles embed.FS

func fileFormat() (sqlite.Format, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	return sqlite.Format{
		Version:    SchemaVersion,
		Migrations: files,
		Meta:       "meta",
		FirstRows:  newEpoch,
		CheckRows:  checkRows,
	}, err
}

// CheckDatabase says what is wrong with a database that this process does not have open.
func CheckDatabase(path string, masterKey []byte) error {
	format, err := fileFormat()
	if err != nil {
		return err
	}
	return format.CheckDatabase(path, masterKey)
}
