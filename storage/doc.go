// Package storage keeps everything confab knows in one SQLite file.
//
// It is one flat package with a file per resource. Reading methods hang on Rx
// and run in DB.View, or in DB.List and DB.Search where they may read much; writing
// methods hang on Tx and run in DB.Update, which returns when the change is durable.
// No other package holds SQL.
//
// Beneath the resources are, from the bottom up: migrate.go and inspect.go, which
// make, upgrade and check the file; session.go, one connection with its prepared
// statements; writer.go, the one goroutine that writes, for many callers in one
// commit; readers.go, turns.go and free_sessions.go, who reads when on which connection;
// tx.go, how statements are run and what their errors mean; cache.go, the rows that
// every message needs; page.go, lists with filters.
package storage
