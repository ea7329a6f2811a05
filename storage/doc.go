// Package storage keeps everything confab knows in one SQLite file.
//
// It is one flat package with a file per resource. Reading methods hang on Rx
// and run in DB.View; writing methods hang on Tx and run in DB.Update, which
// returns when the change is durable. No other package holds SQL.
package storage
