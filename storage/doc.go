// Package storage keeps everything confab knows in one SQLite file.
//
// It is one flat package with a file per resource. Reading methods hang on Rx
// and run in DB.View, or in DB.List and DB.Search where they may read much; writing
// methods hang on Tx and run in DB.Update, which returns when the change is durable.
// No other package holds SQL.
//
// Beneath the resources is storage/sqlite, the engine: connections, transactions, lists.
// Between the two are db.go, which puts the engine's transactions and our rows together;
// engine.go, the engine's names that callers of storage use; cache.go, the rows that every
// message needs; pending.go, rows written once for all that share a commit. The full-text
// index of messages is storage/search.
package storage
