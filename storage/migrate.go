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

func fileFormat() sqlite.Format {
	files, _ := fs.Sub(migrationFiles, "migrations") // only a malformed name is an error
	return sqlite.Format{
		Version:    SchemaVersion,
		Migrations: files,
		Meta:       "meta",
		FirstRows:  newEpoch,
		CheckRows:  checkRows,
	}
}

// CheckDatabase says what is wrong with a database that this process does not have open.
func CheckDatabase(path string, masterKey []byte) error {
	return fileFormat().CheckDatabase(path, masterKey)
}
