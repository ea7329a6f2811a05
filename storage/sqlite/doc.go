// Package sqlite is the engine beneath package storage: one SQLite file with one writer and
// many readers. It knows no table of ours.
//
// From the bottom up: migrate.go and inspect.go make, upgrade and check the file;
// session.go is one connection with its prepared statements; writer.go is the one
// goroutine that writes, for many callers in one commit; readers.go, fair_semaphore.go and
// free_sessions.go say who reads when on which connection; tx.go is how statements are run
// and what their errors mean; page.go, lists with filters; packed.go, rows that are read
// fast; seal.go, id.go, time.go and json.go, what columns hold.
package sqlite
