package storagetest

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"confab/storage"
	"confab/storage/sqlite"
)

// Beside opens the database of a data directory while others may have it open,
// for a test that asks more than once. The test closes it.
func Beside(dir string) *sqlx.DB {
	return sqlite.Connect(sqlite.DSN(storage.DatabaseFile(dir), "rw", "busy_timeout(5000)", "foreign_keys(ON)"))
}

// Exec puts a database into a state that no method of storage brings about.
func Exec(t testing.TB, dir, query string, args ...any) {
	t.Helper()
	db := Beside(dir)
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// effects are the tables that a request can leave something in, with how much of
// it there is. The API log, which every request is in, is none of them.
const effects = `
	SELECT 'messages' AS name, count(*) AS count FROM messages UNION ALL
	SELECT 'contacts', count(*) FROM contacts UNION ALL
	SELECT 'conversations', count(*) FROM conversations UNION ALL
	SELECT 'events', count(*) FROM events UNION ALL
	SELECT 'deliveries', count(*) FROM deliveries UNION ALL
	SELECT 'usage', coalesce(sum(messages), 0) FROM usage UNION ALL
	SELECT 'jobs', count(*) FROM jobs UNION ALL
	SELECT 'answers', count(*) FROM idempotency`

// Effects counts what requests have left: rows by table, and the messages counted as usage.
func Effects(t testing.TB, dir string) map[string]int {
	t.Helper()
	db := Beside(dir)
	defer db.Close()
	return countEffects(t, db)
}

// WatchEffects is Effects for a test that counts often: to open a database takes longer
// than to count. The connection is closed with the test.
func WatchEffects(t testing.TB, dir string) func(testing.TB) map[string]int {
	t.Helper()
	db := Beside(dir)
	t.Cleanup(func() { db.Close() })
	return func(t testing.TB) map[string]int {
		t.Helper()
		return countEffects(t, db)
	}
}

func countEffects(t testing.TB, db *sqlx.DB) map[string]int {
	t.Helper()
	var tables []struct {
		Name  string
		Count int
	}
	if err := db.Select(&tables, effects); err != nil {
		t.Fatal(err)
	}

	counts := make(map[string]int)
	for _, table := range tables {
		if table.Count > 0 {
			counts[table.Name] = table.Count
		}
	}
	return counts
}
