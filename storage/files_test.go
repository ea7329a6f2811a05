package storage_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"confab/storage"

	"github.com/jmoiron/sqlx"
)

// How the tests look at files from outside of storage.

// raw opens a database file without any of storage's care.
func raw(t *testing.T, path string) *sqlx.DB {
	t.Helper()
	conn, err := sqlx.Open("sqlite", "file:"+path+"?mode=rwc&_pragma=foreign_keys(OFF)")
	check(t, err)
	conn.SetMaxOpenConns(1)
	return conn
}

// alter changes a database file from outside.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	conn := raw(t, path)
	for _, s := range statements {
		_, err := conn.Exec(s)
		check(t, err)
	}
	check(t, conn.Close())
}

// column reads one column of strings from a file.
func column(t *testing.T, path, query string, args ...any) []string {
	t.Helper()
	conn := raw(t, path)
	var values []string
	check(t, conn.Select(&values, query, args...))
	check(t, conn.Close())
	return values
}

// newFile makes a database with an organization in it and closes it. It is a
// copy: making one and waiting for the disk takes much longer.
func newFile(t *testing.T) storage.Options {
	t.Helper()
	o, err := template()
	check(t, err)
	made := o
	made.Path = storage.DatabaseFile(t.TempDir())
	copyFile(t, o.Path, made.Path)
	copyFile(t, filepath.Join(filepath.Dir(o.Path), storage.MasterKeyFile), filepath.Join(filepath.Dir(made.Path), storage.MasterKeyFile))
	return made
}

var template = sync.OnceValues(func() (storage.Options, error) {
	var o storage.Options
	dir, err := os.MkdirTemp("", "template-*")
	if err != nil {
		return o, err
	}
	schema, err := os.ReadFile(filepath.Join("..", "schema.sql"))
	if err != nil {
		return o, err
	}
	o = storage.Options{Path: storage.DatabaseFile(dir), Schema: string(schema), Readers: 2}
	if o.MasterKey, err = storage.LoadMasterKey(dir, ""); err != nil {
		return o, err
	}
	db, err := storage.Open(o)
	if err != nil {
		return o, err
	}
	err = db.Update(context.Background(), func(tx *storage.Tx) error {
		tx.Now, tx.Order = 1, 1 // before the clock of every test
		org := storage.Organization{Name: "Acme", Plan: "self_hosted"}
		if _, err := tx.InsertOrganization(&org); err != nil {
			return err
		}
		_, err := tx.InsertKey(&storage.Key{OrganizationID: org.ID})
		return err
	})
	return o, errors.Join(err, db.Close())
})

// open opens a database with one organization until the test ends.
func open(t *testing.T, o storage.Options) *storage.DB {
	t.Helper()
	db, err := storage.Open(o)
	check(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// tables lists the tables of a file.
func tables(t *testing.T, path string) []string {
	t.Helper()
	return column(t, path, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
}

// describe says everything about a file's schema that its text may say in
// several ways: ALTER TABLE reformats that.
func describe(t *testing.T, path string) []string {
	t.Helper()
	conn := raw(t, path)
	var lines []string
	for _, query := range []string{
		`SELECT concat_ws(' ', 'table', name, type, 'wr', wr, 'strict', strict) FROM pragma_table_list
		 WHERE schema = 'main' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
		`SELECT concat_ws(' ', 'column', t.name, c.cid, c.name, c.type, 'notnull', c."notnull", 'default', quote(c.dflt_value), 'pk', c.pk, 'hidden', c.hidden)
		 FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'`,
		`SELECT concat_ws(' ', 'index', t.name, i.name, 'unique', i."unique", i.origin, 'partial', i.partial)
		 FROM sqlite_schema t, pragma_index_list(t.name) i WHERE t.type = 'table'`,
		`SELECT concat_ws(' ', 'index column', i.name, c.seqno, coalesce(c.name, '-'), 'desc', c."desc", c.coll, 'key', c.key)
		 FROM sqlite_schema i, pragma_index_xinfo(i.name) c WHERE i.type = 'index'`,
		`SELECT concat_ws(' ', 'reference', t.name, f."from", f."table", coalesce(f."to", '-'), f.on_update, f.on_delete, f.match)
		 FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
		`SELECT concat_ws(' ', 'where', name, substr(sql, instr(sql, ' WHERE '))) FROM sqlite_schema
		 WHERE type = 'index' AND sql LIKE '% WHERE %'`,
		`SELECT concat_ws(' ', type, name, sql) FROM sqlite_schema WHERE type IN ('view', 'trigger')`,
	} {
		var some []string
		check(t, conn.Select(&some, query))
		lines = append(lines, some...)
	}
	check(t, conn.Close())
	slices.Sort(lines)
	return lines
}

// contents is every row of a file, as "table: column=value …", by table.
func contents(t *testing.T, path string) map[string][]string {
	t.Helper()
	conn := raw(t, path) // one for all: to open one reads the whole schema
	defer conn.Close()
	read := func(query string, args ...any) (values []string) {
		check(t, conn.Select(&values, query, args...))
		return values
	}

	all := make(map[string][]string)
	for _, table := range append(tables(t, path), "sqlite_sequence") {
		var parts []string
		for _, name := range read(`SELECT name FROM pragma_table_xinfo(?) ORDER BY name`, table) {
			parts = append(parts, fmt.Sprintf(`'%s=' || quote("%s")`, name, name))
		}
		all[table] = read("SELECT " + strings.Join(parts, " || ' ' || ") + " AS r FROM " + table + " ORDER BY r")
	}
	return all
}

// snapshot returns the content of every file below dir. SQLite's index of the log
// is not content: it is made again from the log whenever that is looked at.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	check(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%d bytes %x", len(b), sha256.Sum256(b))
		return err
	}))
	return files
}

// difference lists the entries of only one of two sorted lists.
func difference(want, got []string) []string {
	var lines []string
	for _, l := range want {
		if !slices.Contains(got, l) {
			lines = append(lines, "missing: "+l)
		}
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			lines = append(lines, "extra: "+l)
		}
	}
	return lines
}
