package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// smallFile is the size up to which every start verifies the whole file; above
// it that would take too long, and `confab doctor` does it on demand.
const smallFile = 16 << 20

// Offsets in the header of an SQLite file.
const (
	headerSize          = 100
	pageSizeAt          = 16
	changeCounterAt     = 24
	pageCountAt         = 28
	applicationIDAt     = 68
	pageCountValidForAt = 92
)

// walFrameHeader comes before every page in a log.
const walFrameHeader = 24

var fileMagic = []byte("SQLite format 3\x00")

// adviceRestore ends every message about a file that is not sound.
const adviceRestore = "restore it from a backup (confab restore), or move it away to start with an empty one; it was left untouched"

// InspectHeader looks at the file before SQLite does, because SQLite would take
// an empty file for a new database and write to a foreign one.
func InspectHeader(path string) error {
	if err := unix.Access(filepath.Dir(path), unix.W_OK); err != nil {
		return NotWritable(path, err)
	}

	f, err := os.OpenFile(path, os.O_RDWR, 0) // SQLite would be content to read only
	if err != nil {
		return NotWritable(path, err)
	}
	defer f.Close()

	header := make([]byte, headerSize)
	_, err = io.ReadFull(f, header)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is truncated: it has no complete header: %s", path, adviceRestore)
	case err != nil:
		return fmt.Errorf("read the database: %w", err)
	}

	if !bytes.HasPrefix(header, fileMagic) {
		return fmt.Errorf("%s is not an SQLite database, or it is corrupt: %s", path, adviceRestore)
	}
	if id := binary.BigEndian.Uint32(header[applicationIDAt:]); id != ApplicationID {
		return fmt.Errorf("%s is a database of another program (application id %#x): point data_dir somewhere else; it was left untouched",
			path, id)
	}

	if logSize(path) > 0 {
		return nil // the log may hold the missing pages; inspectContent looks again
	}
	return checkLength(path, header)
}

func logSize(path string) int64 { return fileSize(path + "-wal") }

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// checkLength compares the file's size with the number of pages it should have.
func checkLength(path string, header []byte) error {
	pageSize := int64(binary.BigEndian.Uint16(header[pageSizeAt:]))
	pages := int64(binary.BigEndian.Uint32(header[pageCountAt:]))
	if !bytes.Equal(header[changeCounterAt:changeCounterAt+4], header[pageCountValidForAt:pageCountValidForAt+4]) {
		return nil // the count is stale, says SQLite's file format
	}

	if size := fileSize(path); size < pages*pageSize {
		return fmt.Errorf("%s is truncated: %d bytes of %d: %s", path, size, pages*pageSize, adviceRestore)
	}
	return nil
}

// inspectContent asks whether all pages are there and, of a small file, whether they are sound.
func inspectContent(conn *sqlx.DB, o Options) error {
	var pages, pageSize int64
	err := conn.QueryRow("SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &pageSize)
	if err != nil {
		return err
	}

	inLog := logSize(o.Path) / (pageSize + walFrameHeader) // at most
	if missing := pages - fileSize(o.Path)/pageSize; missing > inLog {
		return fmt.Errorf("%s is truncated: %d pages of %d are neither in it nor in its log: %s",
			o.Path, missing-inLog, pages, adviceRestore)
	}

	if o.SkipCheck {
		return nil
	}
	if pages*pageSize > smallFile {
		return readEveryTable(conn)
	}

	var verdict string
	if err := conn.Get(&verdict, "PRAGMA quick_check(1)"); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%s is corrupt (%s): %s", o.Path, strings.Join(strings.Fields(verdict), " "), adviceRestore)
	}
	return nil
}

// readEveryTable reads a row of each table and of each index that is not
// partial, which finds a damaged root in milliseconds at any size.
func readEveryTable(conn *sqlx.DB) error {
	var queries []string
	err := conn.Select(&queries, `
		SELECT 'SELECT count(*) FROM (SELECT 1 FROM "' || tbl_name || '"' ||
			CASE type WHEN 'index' THEN ' INDEXED BY "' || name || '"' ELSE '' END || ' LIMIT 1)'
		FROM sqlite_schema
		WHERE type = 'table' OR (type = 'index' AND sql IS NOT NULL AND sql NOT LIKE '% WHERE %')`)
	if err != nil {
		return err
	}

	for _, query := range queries {
		var n int
		if err := conn.Get(&n, query); err != nil {
			return err
		}
	}
	return nil
}

// Explain says what to do about an error of opening a file.
func Explain(path string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}

	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s is corrupt (%w): %s", path, err, adviceRestore)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return NotWritable(path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ErrNotWritable means that the system does not let this user write a database.
var ErrNotWritable = errors.New("cannot be written")

func NotWritable(path string, err error) error {
	const advice = "check the owner and mode of the file and its directory, and that the disk is neither full nor read-only"
	return fmt.Errorf("%s %w (%w): %s", path, ErrNotWritable, err, advice)
}
