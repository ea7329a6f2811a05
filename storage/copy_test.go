package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// copyOf copies a database file.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), "copy.db")
	check(t, os.WriteFile(target, nil, 0o600))
	check(t, storage.CopyDatabase(context.Background(), path, target, func(int64, int64) {}))
	return target
}

func TestACopyIsMadeBesideAWriter(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db := open(t, o)
	h := newThread(t, db, "100200", "+15550001111")
	for range 20 {
		h.add(t, db)
	}
	began, stop, stopped := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
				h.add(t, db)
			}
			if n == 0 {
				close(began)
			}
		}
	}()
	<-began // else the copy may be made before anybody writes
	target := copyOf(t, o.Path)
	close(stop)
	n := <-stopped
	is.NoErr(storage.CheckDatabase(target, o.MasterKey))
	facts, err := storage.ReadCopy(target, nil)
	is.NoErr(err)
	is.True(20 < facts.Messages && facts.Messages <= int64(20+n))
	is.Equal(facts.Queued, facts.Messages)
	is.Equal(facts.SchemaVersion, storage.SchemaVersion)
	info, err := os.Stat(target)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	copied := open(t, storage.Options{Path: target, MasterKey: o.MasterKey, Schema: o.Schema}) // and it works
	is.True(len(view(t, copied, func(rx *storage.Rx) ([]storage.Organization, error) { return rx.Organizations() })) > 0)
}

func TestACopyNamesItsFiles(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db := open(t, o)
	h := newThread(t, db, "100200", "+15550001111")
	for _, sum := range []string{"bb", "aa", "bb"} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.InsertMedia(&storage.Media{AccountID: h.account.ID, Origin: storage.OriginLibrary, SHA256: strings.Repeat(sum, 32), MIMEType: "text/plain", Size: 7})
		})
	}
	target := copyOf(t, o.Path)
	var sums []string
	facts, err := storage.ReadCopy(target, func(sum string) error {
		sums = append(sums, sum[:2])
		return nil
	})
	is.NoErr(err)
	is.Equal(sums, []string{"aa", "bb"}) // each once
	is.Equal(facts.Files, int64(2))
	is.Equal(facts.FileBytes, int64(14))
	stop := errors.New("stop")
	_, err = storage.ReadCopy(target, func(string) error { return stop })
	is.True(errors.Is(err, stop))
}

func TestACopyThatIsBrokenOffSaysSo(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	open(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	target := filepath.Join(t.TempDir(), "copy.db")
	is.NoErr(os.WriteFile(target, nil, 0o600))
	is.True(storage.CopyDatabase(ctx, o.Path, target, func(int64, int64) {}) != nil)
	is.NoErr(os.WriteFile(target, []byte("something else"), 0o600))
	is.True(storage.CopyDatabase(context.Background(), o.Path, target, func(int64, int64) {}) != nil) // never over another file
	text, err := os.ReadFile(target)
	is.NoErr(err)
	is.Equal(string(text), "something else")
}

// Restoring a backup would refuse a word that the schema has and the check does not.
func TestEveryWordOfTheSchemaIsSound(t *testing.T) {
	is := is.New(t)
	schema, err := os.ReadFile("../schema.sql")
	is.NoErr(err)
	o := newFile(t)
	db := open(t, o)
	newThread(t, db, "100200", "+15550001111").add(t, db)

	for table, columns := range map[string][]string{"messages": {"direction", "status", "source", "media_status"}, "conversations": {"status"}} {
		_, rows, _ := strings.Cut(string(schema), "CREATE TABLE "+table+" (")
		for _, column := range columns {
			comment := regexp.MustCompile(`\n    ` + column + ` .*-- ([a-z, ]+)\n`).FindStringSubmatch(rows)
			words := strings.Split(comment[1], ", ")
			is.True(len(words) > 1)
			for _, word := range words {
				alter(t, o.Path, fmt.Sprintf("UPDATE %s SET %s = '%s'", table, column, word))
				is.NoErr(storage.CheckDatabase(o.Path, o.MasterKey))
			}
		}
	}
}

// A backup may be older than the program.
func TestDatabasesOfEveryReleaseAreSound(t *testing.T) {
	frozen(t, func(t *testing.T, o storage.Options) {
		is := is.New(t)
		is.NoErr(storage.CheckDatabase(o.Path, o.MasterKey))
		alter(t, o.Path, "PRAGMA ignore_check_constraints = ON", `UPDATE conversations SET unread_count = -1`)
		is.True(storage.CheckDatabase(o.Path, o.MasterKey) != nil) // it is checked
	})
}

func TestCheckDatabaseFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ spoil, says string }{
		"a reference to nothing": {`PRAGMA foreign_keys = OFF; INSERT INTO teams (public_id, organization_id, name, created_at) VALUES ('team_x', 99, 'x', 1)`,
			"teams → organizations: 1"},
		"a newer schema":           {`PRAGMA user_version = 99`, "at schema 99 but this build knows only"},
		"another program's":        {`PRAGMA application_id = 7`, "a database of another program"},
		"a row that breaks a rule": {`PRAGMA ignore_check_constraints = ON; UPDATE organizations SET subscription = 'perhaps'`, "CHECK constraint failed"},
		"another key":              {"", "the master key does not match"},

		// What no table checks.
		"a message of no account":      {`UPDATE messages SET account_id = 99`, "1 messages without their account"},
		"a message of no conversation": {`UPDATE messages SET conversation_id = 'x'`, "1 messages without their conversation"},
		"a message of another contact": {`UPDATE messages SET contact_id = 'x'`, "1 messages without their conversation"},
		"a message's state":            {`UPDATE messages SET status = 'lost'`, "1 messages with an unknown direction, state or source"},
		"a message's direction":        {`UPDATE messages SET direction = 'up'`, "1 messages with an unknown direction, state or source"},
		"a message's source":           {`UPDATE messages SET source = 'rumour'`, "1 messages with an unknown direction, state or source"},
		"the state of media":           {`UPDATE messages SET media_status = 'lost'`, "1 messages with an unknown direction, state or source"},
		"a message's content":          {`UPDATE messages SET content = '{'`, "1 messages whose content is not JSON"},
		"a message's context":          {`UPDATE messages SET context = '{'`, "1 messages whose content is not JSON"},
		"a conversation's state":       {`UPDATE conversations SET status = 'shut'`, "1 conversations with an unknown state or count"},
		"a conversation's count":       {`UPDATE conversations SET unread_count = -1`, "1 conversations with an unknown state or count"},
		"a job's state":                {`INSERT INTO jobs (kind, args, state, due_at, created_at) VALUES ('x', '{}', 'lost', 1, 1)`, "1 jobs with an unknown state or arguments"},
		"a job's arguments":            {`INSERT INTO jobs (kind, args, state, due_at, created_at) VALUES ('x', '{', 'due', 1, 1)`, "1 jobs with an unknown state or arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			o := newFile(t)
			db := open(t, o)
			newThread(t, db, "100200", "+15550001111").add(t, db)
			target, key := copyOf(t, o.Path), o.MasterKey
			is.NoErr(storage.CheckDatabase(target, key))
			if c.spoil == "" {
				key = make([]byte, storage.MasterKeySize)
			} else {
				dir := t.TempDir()
				is.NoErr(os.Rename(target, storage.DatabaseFile(dir)))
				target = storage.DatabaseFile(dir)
				storagetest.Exec(t, dir, c.spoil)
			}
			err := storage.CheckDatabase(target, key)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}
